/** The examples of the CommonMark specification. The package ships no declarations. */
declare module 'commonmark-spec' {
  const spec: { readonly tests: readonly { readonly markdown: string; readonly number: number }[] }
  export default spec
}
