/**
 * The REPL in a session of the real host whose agent calls its tools by programs: names that stay, a name declared again, a Map that reads well, a failure
 * with its place, an edit that fixes it.
 */
import type { PersonStep } from '../dsh/demo-person.ts'
import { runHeadless } from './host.ts'
import { runWithPerson } from './person.ts'
import { type ModelRequest, type ScriptedTurn, startScriptedModel, textsOf } from './scripted-model.ts'
import type { Stage } from './stage.ts'

const orders = `id,country,total
1,DE,120
2,FR,80
3,DE,40
4,IT,95
`

const cells = {
  declare: `interface Order { id: number; country: string; total: number }
const file = await tools.read({ file_path: 'orders.csv' })
const text = JSON.stringify(file)
const orders: Order[] = [...text.matchAll(/(\\d+),([A-Z]{2}),(\\d+)/g)].map(([, id, country, total]) => ({ id: +id, country, total: +total }))
let rate = 1.0
const gross = (order: Order) => order.total * rate
return orders.length`,
  again: `const rate = 1.25   // declared again: gross, made before, sees it
return orders.map(gross)`,
  map: `const byCountry = new Map<string, Order[]>()
for (const order of orders) byCountry.set(order.country, [...(byCountry.get(order.country) ?? []), order])
return byCountry`,
  fail: `const countries = ['DE', 'FR', 'ES']
const sums = countries.map(country =>
  byCountry.get(country)!.reduce((sum, order) => sum + gross(order), 0))
return Object.fromEntries(countries.map((country, i) => [country, sums[i].toFixed(2)]))`,
} as const

const edit = {
  edits: [{ old_string: 'byCountry.get(country)!.reduce', new_string: '(byCountry.get(country) ?? []).reduce' }],
  expected_target: 4,
}

const run = (code: string, description: string) => ({ calls: [{ name: 'run_code', args: { code, description } }] })

const script = [
  run(cells.declare, 'Read the orders'),
  run(cells.again, 'Apply the tax rate'),
  run(cells.map, 'Group orders by country'),
  run(cells.fail, 'Sum up three countries'),
  { calls: [{ name: 'edit_run_code', args: edit }] },
  run('return [typeof sums, byCountry.size]', 'Look at what is there'),
  { text: 'DE 200.00, FR 100.00, ES 0.00.' },
]

export async function showRepl(stage: Stage): Promise<void> {
  const { narrator, host, newHome, newRepository } = stage
  narrator.part('repl · programs whose names stay')
  const repository = await newRepository({ 'orders.csv': orders })
  narrator.tell(
    'The same host in its code mode: the model’s way to tools is a program. With our bundle, programs are cells of one REPL. A session runs …',
  )
  const model = await startScriptedModel({ turns: script })
  const ran = await runHeadless({
    host,
    home: newHome(),
    cwd: repository.root,
    modelUrl: model.url,
    task: 'What did we sell to Germany, France and Spain, tax included?',
    env: { DSH_TOOLS_MODE: 'code' },
  })
  await model.close()
  if (!narrator.check(`the session ended well (${(ran.wallMs / 1000).toFixed(1)} s)`, ran.code === 0))
    narrator.show('output of the host', `${ran.stdout}${ran.stderr}`)

  const { requests } = model
  const [read = '', taxed = '', grouped = '', failed = '', fixed = '', after = ''] = textsOf(requests.at(-1), 'tool')
  narrator.check(
    'in each request the model is offered exactly run_code and edit_run_code, and the prompt has the same bytes',
    requests.length === script.length && requests.every(request => sameBeginning(request, requests[0])),
  )

  narrator.tell('Cell 1 reads a file with a tool of the host, and declares an array, a rate and a function:')
  narrator.show('cell 1', cells.declare)
  narrator.show('what the model read', read)
  narrator.check('types and top-level await run as they stand', read === '4')

  narrator.tell('Cell 2 declares the rate again, as a constant this time. The function of cell 1 sees the new value:')
  narrator.show('cell 2', cells.again)
  narrator.show('what the model read', taxed)
  narrator.check(
    'names stay from cell to cell and can be declared again',
    JSON.stringify(JSON.parse(taxed || '0')) === '[150,100,50,118.75]',
  )

  narrator.tell('Cell 3 returns a Map, which JSON would have made an empty object:')
  narrator.show('what the model read', grouped)
  narrator.check('it reads as what it is', /^Map\(3\) \{\s+"DE" => \[/.test(grouped))

  narrator.tell('Cell 4 meets a country without orders and fails. The model reads where and why:')
  narrator.show('what the model read', failed)
  narrator.check('the failure points into the cell as it was sent', /cell 4, 3:\d+/.test(failed) && /TypeError/.test(failed))

  narrator.tell('It sends the smallest change instead of the whole cell:')
  narrator.show('edit_run_code', JSON.stringify(edit, undefined, 2))
  narrator.show('what the model read', fixed)
  narrator.check('the changed cell ran', /"DE": "200\.00"/.test(fixed) && /"ES": "0\.00"/.test(fixed))
  narrator.check('as a cell whose names are there for the next one', JSON.stringify(JSON.parse(after || '0')) === '["object",3]')
  await showResume(stage)
}

const before = {
  build: `const seen = new Map([['DE', 2], ['FR', 1]])
const began = Date.now()
const next = (() => { let n = 40; return () => ++n })()
next()
return began`,
  send: `import { appendFileSync } from 'node:fs'
appendFileSync('sent.log', 'one order sent\\n')`,
  after: `import { readFileSync } from 'node:fs'
return { countries: [...seen.keys()], began, next: next(), sent: readFileSync('sent.log', 'utf8') }`,
} as const

/** The host dies between two turns; another process of it resumes the session. */
async function showResume({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
  narrator.tell(
    'Now the host itself dies: kill -9, with everything that ran in it. Before, one cell built this and another wrote to a file:',
  )
  narrator.show('cell 1', before.build)
  narrator.show('cell 2', before.send)
  const repository = await newRepository({ 'README.md': '# Orders\n' })
  const home = newHome()
  const act = async (steps: readonly PersonStep[], turns: readonly ScriptedTurn[]) => {
    const model = await startScriptedModel({ turns })
    const env = { DSH_TOOLS_MODE: 'code' }
    const ran = await runWithPerson({ host, home, cwd: repository.root, modelUrl: model.url, script: steps, env })
    await model.close()
    return { ran, requests: model.requests }
  }
  const first = await act(
    [{ say: 'Begin.' }, { kill: true }],
    [run(before.build, 'Begin'), run(before.send, 'Send'), { text: 'Done.' }],
  )
  const began = textsOf(first.requests[1], 'tool').at(-1) ?? ''
  narrator.check('the host was killed', first.ran.code !== 0)

  const second = await act([{ resume: true }, { say: 'Go on.' }], [run(before.after, 'Look'), { text: 'Done.' }])
  const there = textsOf(second.requests[1], 'tool').at(-1) ?? ''
  narrator.tell('Another process of the host resumes the session. The next cell simply answers:')
  narrator.show('cell 3', before.after)
  narrator.show('what the model read', there)
  narrator.check('the time that the first cell saw is the same', began !== '' && there.includes(began))
  narrator.check('the closure went on counting where it stood', /"next": 42/.test(there))
  narrator.check('what the cell did outside was not done again', /"sent": "one order sent\\n"/.test(there))
}

function sameBeginning(request: ModelRequest, first: ModelRequest | undefined): boolean {
  const names = (request.body.tools ?? []).map(tool => tool.function.name)
  const beginning = (one: ModelRequest | undefined) => JSON.stringify([one?.body.tools, textsOf(one, 'system')])
  return names.join() === 'run_code,edit_run_code' && beginning(request) === beginning(first)
}
