/**
 * next-step on the screen of this host: the band above the prompt, the faint words in its empty box, and whether the person is
 * writing. Shows what the engine says and passes on what the person pressed.
 */
import type { NextView } from '../../next-step/view.ts'
import type { ActionOf } from '../../session/actions.ts'
import { type BandButton, type BandRow, bandOf, buttonCells } from './band.ts'
import type { Host, HostEvent, Next, Result } from './host.ts'

/** What the rest of the module does for this part. */
export interface Ways {
  /** `/next` with these words, by the person. */
  press(args: string): unknown
  /** The person began to write, or wiped it all out. */
  drafted(empty: boolean): Promise<unknown>
}

let view: NextView | null = null
let isWatching = false
/** What the engine was told last of the prompt's box. */
let wasEmpty = true

const ghostMs = 300
const ghostTries = 4
const lookMs = 300

export const isArmed = (): boolean => view?.loop.armed === true

/** Another session is on the screen. */
export function forgetNext(): void {
  view = null
  wasEmpty = true
}

export async function showNext($: Host, action: ActionOf<'show-offer'>, ways: Ways): Promise<void> {
  view = (action.view as NextView | undefined) ?? null
  await $.ui.invalidate('ui.render')
  const { gen } = view ?? { gen: null }
  if (view?.kind === 'offer' && !isArmed() && gen !== null) $.clock.after(ghostMs, () => showGhost($, gen, ghostTries))
  if (isArmed() && !isWatching) {
    isWatching = true
    $.clock.after(lookMs, () => watchDraft($, ways))
  }
}

/** Faint words in the empty box, for Tab to take. The host has no room for them while the turn is just ending. */
async function showGhost($: Host, gen: string, tries: number): Promise<void> {
  if (view?.kind !== 'offer' || view.gen !== gen || isArmed() || view.intent !== 'worker-step') return
  const { isShown } = await $.prompt.suggest({ text: view.text })
  if (!isShown && tries > 1) $.clock.after(ghostMs, () => showGhost($, gen, tries - 1))
}

/** The host's own guess steps back while there is an offer of ours. */
export function suggested(e: HostEvent, next: Next): Result | Promise<Result> {
  const by = (e['origin'] as { kind?: unknown } | undefined)?.kind
  return by === 'suggestion' && view?.kind === 'offer' ? { isShown: false } : next(e)
}

/** While a loop is armed, a person who writes is not overtaken by it. */
async function watchDraft($: Host, ways: Ways): Promise<void> {
  try {
    await lookAtBox($, ways)
  } catch {
    // The next look tells.
  }
  isWatching = isArmed()
  if (isWatching) $.clock.after(lookMs, () => watchDraft($, ways))
}

export async function lookAtBox($: Host, ways: Ways): Promise<void> {
  const { text } = await $.prompt.read()
  const empty = text.trim() === ''
  if (empty === wasEmpty) return
  wasEmpty = empty
  await ways.drafted(empty)
}

export function band($: Host, e: HostEvent, next: Next, ways: Ways): Result | Promise<Result> {
  const { hasSurvey, bodyColumns } = (e['props'] ?? {}) as { hasSurvey?: boolean; bodyColumns?: number }
  const rows = hasSurvey === true ? [] : bandOf(view)
  if (rows.length === 0) return next(e)
  const { Box, Text, Button } = $.ui.resolve(e)
  const press = ({ does }: BandButton): unknown =>
    does.kind === 'next' ? ways.press(does.args) : $.prompt.fill({ text: does.text })
  const drawn = (row: BandRow): unknown => {
    const { text, isDim, buttons } = row
    const isNarrow = text.length + buttonCells(row) > (bodyColumns ?? 80)
    return h(
      Box,
      { flexDirection: isNarrow ? 'column' : 'row' },
      h(Text, { dimColor: isDim }, text),
      h(
        Box,
        { flexDirection: 'row' },
        ...buttons.flatMap(button => [
          h(Text, null, ' '),
          h(Button, { key: button.key, label: button.label, onPress: () => press(button) }),
        ]),
      ),
    )
  }
  return h(Box, { flexDirection: 'column' }, ...rows.map(drawn)) as Result
}
