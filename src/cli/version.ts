/** The version of this package; the build puts it in. */
declare const __OUTRIGGER_VERSION__: string | undefined

export const packageVersion: string = typeof __OUTRIGGER_VERSION__ === 'string' ? __OUTRIGGER_VERSION__ : '0.0.0-source'
