/**
 * keel in a session of the real host: an edit makes two documents suspect, the model is told with the
 * diff, its turn is held once, it reviews both, and the stamps say so.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runHeadless } from './host.ts'
import { type ModelRequest, startScriptedModel, textsOf } from './scripted-model.ts'
import type { Stage } from './stage.ts'

const source = `/** How often a failed request is sent again, and how long we wait in between. */
export const maxRetries = 3

/** Milliseconds before attempt n, counted from 1. */
export function retryDelay(attempt: number): number {
  return 200 * attempt
}
`

const guide = `---
title: Retries
sources:
  - src/retry.ts#retryDelay
---
# Retries

A failed request is sent again. The wait grows by 200 ms with every attempt.
`

const faq = `---
title: Questions
sources:
  - src/retry.ts
---
# Questions

**Does the client try again by itself?** Yes, a few times, with a pause in between.
`

const task = 'Make the retries wait exponentially.'

/** The steps of the scripted model; the host runs the calls for real. */
const script = [
  { calls: [{ name: 'read', args: { file_path: 'src/retry.ts' } }] },
  {
    calls: [
      { name: 'edit', args: { file_path: 'src/retry.ts', old_string: '200 * attempt', new_string: '200 * 2 ** (attempt - 1)' } },
    ],
  },
  { text: 'Done: each wait is twice as long as the one before.' },
  { calls: [{ name: 'read', args: { file_path: 'docs/retries.md' } }] },
  {
    calls: [
      {
        name: 'edit',
        args: {
          file_path: 'docs/retries.md',
          old_string: 'The wait grows by 200 ms with every attempt.',
          new_string: 'The first wait is 200 ms; each one after it is twice as long.',
        },
      },
      {
        name: 'keel_ok',
        args: { child: 'docs/questions.md', reason: 'it speaks of pauses only, not of their length' },
      },
    ],
  },
  { text: 'Both documents are reviewed: one is updated, the other still holds.' },
]

export async function showKeel({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
  narrator.part('keel · documents that know when their sources moved')
  const repository = await newRepository({ 'src/retry.ts': source, 'docs/retries.md': guide, 'docs/questions.md': faq })
  narrator.tell(
    'A repository with a source file and two documents that were written from it. Each document says so in its frontmatter.',
  )
  narrator.show('docs/retries.md', repository.read('docs/retries.md'))

  await repository.outrigger('keel', 'stamp')
  await repository.git('add', '-A')
  await repository.git('commit', '-qm', 'Stamp the documents')
  narrator.tell('`outrigger keel stamp` writes down which content of its source each document was last reviewed against:')
  narrator.show('git show', diffOnly(await repository.git('show', '--unified=0', '--format=', '--', 'docs')))
  narrator.check(
    'each stamp is one token of 12 hex digits behind its source',
    ['docs/retries.md', 'docs/questions.md'].every(path => stampIn(repository.read(path)) !== undefined),
  )
  const before = { guide: stampIn(repository.read('docs/retries.md')), faq: stampIn(repository.read('docs/questions.md')) }

  narrator.tell(
    `Now the real DSH host runs a session here, with our bundle installed and a scripted model. The person asks: “${task}”`,
  )
  const home = newHome()
  const model = await startScriptedModel({ turns: script })
  const ran = await runHeadless({ host, home, cwd: repository.root, modelUrl: model.url, task })
  await model.close()
  if (!narrator.check(`the session ended well (${(ran.wallMs / 1000).toFixed(1)} s)`, ran.code === 0))
    narrator.show('output of the host', `${ran.stdout}${ran.stderr}`)

  const [first, beforeEdit, afterEdit, afterHold] = model.requests
  narrator.check(
    'until a source moves, not one character is added to what the model reads',
    [first, beforeEdit].every(
      request => request !== undefined && textsOf(request, 'user').every(text => !text.startsWith('keel')),
    ),
  )
  narrator.tell('The agent edits the source. In its very next request to the model, behind the tool’s result, stands:')
  const notice = lastText(afterEdit, 'keel: src/retry.ts changed')
  narrator.show('a message of the request that reached the model', notice)
  narrator.check(
    'the model is told which documents were written from it',
    /docs\/retries\.md/.test(notice) && /docs\/questions\.md/.test(notice),
  )
  narrator.check('with the diff of the source', notice.includes('+  return 200 * 2 ** (attempt - 1)'))

  narrator.tell('The model answers as if it were done. The turn is held once, in the same turn:')
  const hold = lastText(afterHold, 'keel: before you finish')
  narrator.show('a message of the request that reached the model', firstLines(hold, 6))
  narrator.check('the agent is kept going with the list of what it left behind', hold !== '')
  const holds = new Set(
    model.requests.flatMap(request => textsOf(request, 'user').filter(text => text.startsWith('keel: before you finish'))),
  )
  narrator.check('once, not again', holds.size === 1)

  narrator.tell(
    'So it updates one document and acknowledges the other with the tool keel_ok. When the turn ends, keel writes the stamps:',
  )
  narrator.show('git diff', diffOnly(await repository.git('diff', '--unified=0', '--', 'docs')))
  narrator.check('the document that was edited has a new stamp', moved(before.guide, stampIn(repository.read('docs/retries.md'))))
  narrator.check('so has the one that still holds', moved(before.faq, stampIn(repository.read('docs/questions.md'))))
  const questions = await repository.git('diff', '--numstat', '--', 'docs/questions.md')
  narrator.check('in which nothing but the stamp changed', /^1\t1\t/.test(questions))

  await repository.git('add', '-A')
  await repository.git('commit', '-qm', 'Wait exponentially between retries')
  narrator.tell('Who reviewed what, and why, is in the journal, which is committed with the rest:')
  narrator.show('.outrigger/keel/journal.jsonl', journalOf(repository.root))
  narrator.show('git log', await repository.git('log', '--oneline', '--stat', '--format=%h %s', '-1'))
  narrator.check('the journal has the reason that the model gave', /not of their length/.test(journalOf(repository.root)))

  const status = join(repository.root, '.outrigger', 'keel', 'status.md')
  narrator.tell('A person finds the state in a file, and `outrigger keel check` fails in CI while a document is behind:')
  narrator.show('.outrigger/keel/status.md', existsSync(status) ? readFileSync(status, 'utf8') : '(not there)')
  narrator.check('no document is behind any more', existsSync(status) && /^suspects: none$/m.test(readFileSync(status, 'utf8')))
  const check = JSON.parse(await repository.outrigger('keel', 'check', '--json')) as { readonly verdict: string }
  narrator.check(`\`outrigger keel check\` agrees: ${check.verdict}`, check.verdict === 'clean')
}

const stampIn = (text: string): string | undefined => / @([0-9a-f]{12})$/m.exec(text)?.[1]
const moved = (before: string | undefined, now: string | undefined): boolean => now !== undefined && now !== before

function lastText(request: ModelRequest | undefined, start: string): string {
  return textsOf(request, 'user').findLast(text => text.startsWith(start)) ?? ''
}

/** Hunks without git's own header lines. */
function diffOnly(diff: string): string {
  return diff
    .split('\n')
    .filter(line => !/^(diff --git|index |--- )/.test(line))
    .map(line => (line.startsWith('+++ b/') ? line.slice('+++ b/'.length) : line))
    .join('\n')
}

function firstLines(text: string, count: number): string {
  const lines = text.split('\n')
  return lines.length <= count ? text : [...lines.slice(0, count), '…'].join('\n')
}

function journalOf(root: string): string {
  const file = join(root, '.outrigger', 'keel', 'journal.jsonl')
  if (!existsSync(file)) return '(not there)'
  const records = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return records
    .map(line => JSON.parse(line) as JournalLine)
    .map(
      ({ kind, child, source, who, reason }) =>
        `${kind}: ${child} <- ${source}, by ${nameOf(who)}${reason === null ? '' : ` (“${reason}”)`}`,
    )
    .join('\n')
}

interface JournalLine {
  readonly kind: string
  readonly child: string
  readonly source: string
  readonly who: { readonly kind: string }
  readonly reason: string | null
}

const nameOf = (who: JournalLine['who']): string => (who.kind === 'code' ? 'keel itself' : `the ${who.kind}`)
