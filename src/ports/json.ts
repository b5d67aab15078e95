/** Values that survive `JSON.stringify` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
