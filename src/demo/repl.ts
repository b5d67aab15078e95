/**
 * The REPL in a session of the real host whose agent calls its tools by programs: names that stay, a name declared again, a Map that reads well, a failure
 * with its place, an edit that fixes it.
 */
import { runHeadless } from './host.ts'
import { type ModelRequest, startScriptedModel, textsOf } from './scripted-model.ts'
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

export async function showRepl({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
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
  narrator.tell(
    'Names live as long as the process that runs the cells. This version does not bring them back after it has ended; it says which are gone.',
  )
}

function sameBeginning(request: ModelRequest, first: ModelRequest | undefined): boolean {
  const names = (request.body.tools ?? []).map(tool => tool.function.name)
  const beginning = (one: ModelRequest | undefined) => JSON.stringify([one?.body.tools, textsOf(one, 'system')])
  return names.join() === 'run_code,edit_run_code' && beginning(request) === beginning(first)
}
