/** What a model is asked for a save: the state, the entries that are new to it, and what it may say. */
import { estimateTokens } from '../text/fit.ts'
import type { Pack } from './context.ts'
import { pathsOf, readText } from './files.ts'
import { need } from './load.ts'
import { cursorId } from './show.ts'
import type { PromptDocument } from './types.ts'

/** Characters of the new entries; older ones are named. */
const maxEntries = 24_000

export async function prompt(pack: Pack, stream: string, goal?: string): Promise<PromptDocument> {
  await need(pack, stream)
  const { config } = pack.deps
  const state = pack.mask(readText(pack.deps, pathsOf(stream).state) ?? '')
  const folded = pack.read(stream)?.folded
  const left = Math.max(0, config.maxChars - state.length)
  const text = [
    `You keep the notes of work stream "${stream}" current. Code writes the file and copies every line; you only say what to add, change or retire. After a fresh start these notes are all that is left of this conversation.`,
    'Plain lines, nothing around them. First line:',
    'GATE: ok',
    'or',
    'GATE: blocked - <why, one line>   (only in the middle of a step that weighs all items together; then stop)',
    'Then only the keys you need:',
    'status: <a word or two>',
    'goal: <one sentence>',
    'deliverable: <path of the result>',
    'read_first: read_if_needed: decisions: learnings: discarded: in_progress: next: unknowns: stale:   each followed by "- item" lines',
    'edit: <id> <new text>',
    'retire_done: <ids> — <why>   (next, in_progress)',
    'retire_answered: (next, unknowns)   retire_learned: (learnings no longer true)   retire_reversed: (decisions that proved wrong)   retire_superseded: (decisions replaced)   retire_dropped: (anything else that no longer holds)   restore: <ids>',
    'Add only what STATE lacks; a line stays until you retire or edit it. Use ids as shown, invent none. decisions: choice — why. in_progress: where the half-done thing stands. next: two to four actions. Prefer a path, a path:line or a command to an explanation; write commands down, do not run them.',
    `Room: ${config.maxChars} characters, about ${config.maxTokens} tokens; STATE takes ${state.length}, ${left} left.${left < 1_500 ? ' Little room: retire first.' : ''}`,
    ...(goal === undefined
      ? []
      : [
          `The next session works on: ${pack.mask(goal).replace(/\s+/g, ' ').slice(0, 300)}. Add relevant: <ids that matter for it>.`,
        ]),
    '',
    'STATE:',
    state === '' ? '(none)' : state.trimEnd(),
    '',
    'NEW ENTRIES (filed already; reasoning and pivot stand only here):',
    newEntries(pack, stream),
  ].join('\n')
  return { stream, prompt: text, cursor: cursorId(folded?.cursor ?? 0), tokens: estimateTokens(text) }
}

/** Trailers that no model has heard of: those after the last reply, newest first to be kept. */
function newEntries(pack: Pack, stream: string): string {
  const entries = pack.read(stream)?.folded.entries ?? []
  const last = entries.findLastIndex(({ entry }) => entry.kind === 'designation')
  const fresh = entries.slice(last + 1).filter(({ entry }) => entry.kind === 'ckpt' && entry.state !== 'torn')
  const shown: string[] = []
  let length = 0
  for (const { entry } of fresh.toReversed()) {
    const text = `### ${entry.id}\n${pack.mask(entry.body)}`
    length += text.length + 1
    if (length > maxEntries) break
    shown.unshift(text)
  }
  if (shown.length === 0) return '(none)'
  const more = fresh.length - shown.length
  return (more > 0 ? `(${more} older ones are left out)\n` : '') + shown.join('\n')
}
