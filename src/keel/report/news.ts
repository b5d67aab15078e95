/**
 * What of the degraded notes is news for a reader. A cache that was made again costs one slow look and loses
 * nothing; it happens with every change of a setting, so only the document has it.
 */
export function newsOf(degraded: readonly string[]): readonly string[] {
  return degraded.filter(note => note !== 'cache rebuilt')
}
