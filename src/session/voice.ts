/**
 * Who reads a text of ours: a person at a terminal, who is told command lines, or a model that asked with a
 * tool, which is told tools. A model that typed our command lines into a shell would count as a person.
 */
export type Voice = 'terminal' | 'tool'

/** A hint in both voices, as the details of an error. */
export function hints(say: (voice: Voice) => string): { readonly hint: string; readonly toolHint: string } {
  return { hint: say('terminal'), toolHint: say('tool') }
}
