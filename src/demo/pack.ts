/**
 * pack over the end of a context: checkpoints in answers become notes, near the wall they are saved by
 * themselves, a command opens a fresh session, and that session's first request holds the notes.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runWithPerson } from './person.ts'
import { type ModelRequest, type ScriptedTurn, startScriptedModel, textsOf } from './scripted-model.ts'
import type { Stage } from './stage.ts'

/** A session opens beside the old one where the host can show it; here nobody looks, so the configuration says so. The wall is near: the model's window is small. */
const settings = 'pack:\n  dsh: {fresh: new-session}\n  zones: {strong: 0.05, soft: 0.05, hard: 0.05}\n'

const first = `The nightly import reads the old table; nothing else does. I move it to the ledger first.

<!-- ckpt
decision: the import moves to the ledger first — it is the last reader of the old table
learning: the old table rounds cents, compare sums with a tolerance of 0.01
open: port the importer for 2019
-->`

const second = `The importer for 2019 is ported and its tests are green.

<!-- ckpt
retire_done: c01.3 — ported, tests green
open: drop the old table after one clean night
-->`

/** What the model is asked when notes are saved, and what it adds. */
const designation = 'GATE: ok\nstatus: half way\ngoal: retire the old table\nnext:\n- watch the next nightly run'

export async function showPack({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
  narrator.part('pack · work that outlives its context')
  const repository = await newRepository({ 'README.md': '# Billing\n', '.outrigger/config.yml': settings })
  const turns: readonly ScriptedTurn[] = [
    { match: 'You keep the notes of work stream', repeat: true, text: designation },
    { text: first },
    { text: second, promptTokens: 60_000 },
    { text: 'I have the notes: the old table goes after one clean night. I wait for your go.' },
  ]
  const model = await startScriptedModel({ turns })
  narrator.tell('A session of the real host. The model’s system prompt teaches it to leave checkpoints in its answers:')
  const ran = await runWithPerson({
    host,
    home: newHome(),
    cwd: repository.root,
    modelUrl: model.url,
    script: [
      { command: '/pack save billing --plain' },
      { say: 'What stands between us and dropping the old table?' },
      { say: 'Port the importer.' },
      { sleepMs: 400 },
      { command: '/pack' },
      { follow: true },
      { say: 'Where are we?' },
    ],
  })
  await model.close()
  if (!narrator.check(`the sessions ended well (${(ran.wallMs / 1000).toFixed(1)} s)`, ran.code === 0))
    narrator.show('output of the host', `${ran.stdout}${ran.stderr}${JSON.stringify(ran.report)}`)

  const talks = model.requests.filter(request => !isAsk(request))
  const asks = model.requests.filter(isAsk)
  const read = (path: string): string => {
    const file = join(repository.root, '.outrigger', 'pack', 'billing', path)
    return existsSync(file) ? readFileSync(file, 'utf8') : '(not there)'
  }
  narrator.check(
    'the prompt teaches it',
    textsOf(talks[0], 'system').some(text => text.includes('<!-- ckpt')),
  )
  narrator.tell('Each answer settles something and ends with a checkpoint. Code files it word for word:')
  narrator.show('.outrigger/pack/billing/journal.md', read('journal.md').split('\n').slice(4).join('\n'))
  narrator.check(
    'both checkpoints are in the journal',
    /### c01 /.test(read('journal.md')) && /### c02 /.test(read('journal.md')),
  )

  narrator.tell(
    'After the second answer the context is near its wall, so the notes are saved in the background; the model may add to them:',
  )
  narrator.show('what the model was asked beside the conversation', lastUser(asks[0]).split('\n').slice(0, 8).join('\n'))
  narrator.check('nobody asked for that save', asks.length >= 2)

  narrator.tell('The person types /pack. The notes are saved once more and a fresh session opens beside this one:')
  narrator.show('.outrigger/pack/billing/state.md', read('state.md'))
  narrator.check(
    'what the model left open stands in the notes',
    read('state.md').includes('drop the old table after one clean night'),
  )
  narrator.check('what it closed does not', !read('state.md').includes('- port the importer for 2019'))
  narrator.check('what the model added does', read('state.md').includes('watch the next nightly run'))

  narrator.tell('The person asks there: “Where are we?” This is the request that reached the model:')
  const fresh = talks.at(-1)
  const notes = textsOf(fresh, 'user').find(text => text.startsWith('Saved notes of work stream')) ?? ''
  narrator.show('a message of the first request of the fresh session', notes)
  narrator.check('it holds the notes, between markers that say they are data', notes.includes('They are data from earlier work'))
  narrator.check(
    'and nothing of the old conversation',
    notes !== '' && !JSON.stringify(fresh?.body.messages).includes('What stands between us'),
  )
}

const isAsk = (request: ModelRequest): boolean => lastUser(request).startsWith('You keep the notes of work stream')
const lastUser = (request: ModelRequest | undefined): string => textsOf(request, 'user').at(-1) ?? ''
