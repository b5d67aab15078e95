/** Writes the worker's files into `folder`. @returns esbuild's metafiles. */
export function buildWorker(folder: string): Promise<readonly { readonly inputs: Readonly<Record<string, unknown>> }[]>
