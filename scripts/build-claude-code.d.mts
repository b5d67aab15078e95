/** Makes the whole plugin in `out`. @returns esbuild's metafiles of what was bundled. */
export function buildClaudeCode(
  out: string,
  options: { readonly plugins?: readonly unknown[]; readonly version: string },
): Promise<readonly { readonly inputs: Readonly<Record<string, unknown>> }[]>
