/**
 * companion in a session of the real host: an edit of a source brings its test into the next request, once;
 * the next note of its kind rests; a run of the tests refutes the number in the README.
 */
import { runHeadless } from './host.ts'
import { type ModelRequest, startScriptedModel, textsOf } from './scripted-model.ts'
import type { Stage } from './stage.ts'

const files: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop", "type": "module" }\n',
  'README.md': '# shop\n\nPrices and taxes, with 3 tests.\n',
  'src/price.js': 'export const price = (cents) => cents / 100\n',
  'src/tax.js': 'export const tax = (cents) => cents * 0.2\n',
  'tests/price.test.js': testOf('price', 'price(250), 2.5'),
  'tests/tax.test.js': testOf('tax', 'tax(100), 20'),
}

function testOf(name: string, same: string): string {
  return [
    "import { test } from 'node:test'",
    "import { equal } from 'node:assert'",
    `import { ${name} } from '../src/${name}.js'`,
    `test('${name}', () => equal(${same}))`,
    '',
  ].join('\n')
}

const edit = (path: string, before: string, after: string) => ({
  calls: [{ name: 'edit', args: { file_path: path, old_string: before, new_string: after } }],
})

const script = [
  { calls: [{ name: 'read', args: { file_path: 'src/price.js' } }] },
  edit('src/price.js', 'cents / 100', 'Number(cents) / 100'),
  { calls: [{ name: 'read', args: { file_path: 'src/tax.js' } }] },
  edit('src/tax.js', 'cents * 0.2', 'Number(cents) * 0.2'),
  { calls: [{ name: 'bash', args: { command: 'node --test', description: 'Run the tests' } }] },
  { text: 'Both take strings now, and the tests pass.' },
]

export async function showCompanion({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
  narrator.part('companion · what travels with a change')
  const repository = await newRepository(files)
  narrator.tell('A small package: two sources, a test for each, and a README that states a number. A session of the host runs:')
  const model = await startScriptedModel({ turns: script })
  const task = 'Let prices and taxes take strings.'
  const ran = await runHeadless({ host, home: newHome(), cwd: repository.root, modelUrl: model.url, task })
  await model.close()
  if (!narrator.check(`the session ended well (${(ran.wallMs / 1000).toFixed(1)} s)`, ran.code === 0))
    narrator.show('output of the host', `${ran.stdout}${ran.stderr}`)

  const { requests } = model
  narrator.tell('The agent reads a source, then edits it. In its next request to the model, behind the result, stands one note:')
  const note = ours(requests[2]).at(-1) ?? ''
  narrator.show('a message of the request that reached the model', note)
  narrator.check('reading adds nothing', ours(requests[1]).length === 0)
  narrator.check(
    'the edit brings the test of what changed, with the reasons',
    note.includes('- tests/price.test.js - because it imports src/price.js; its name follows src/price.js'),
  )

  narrator.tell(
    'It edits the other source right after. Notes of one kind rest for some calls, so nothing is added; the ledger says why:',
  )
  const ledger = await repository.outrigger('ledger', '--engine', 'companion')
  narrator.show('outrigger ledger --engine companion', ledger)
  narrator.check('no second note comes with the second edit', ours(requests[4]).length === 1)
  narrator.check('the ledger has the reason', ledger.includes('companion: suppressed cooldown Tests'))

  narrator.tell('Then the tests run. All of them ran, and there are not as many as the README says:')
  const refuted = ours(requests[5]).at(-1) ?? ''
  narrator.show('a message of the request that reached the model', refuted)
  narrator.check(
    'the number is named with its place and what was counted',
    refuted.includes('- README.md:3 - the claim differs from the last whole run (expected 3, actual 2)'),
  )

  narrator.tell('The same answers without a session, for people and CI:')
  narrator.show('outrigger companion for src/tax.js', await repository.outrigger('companion', 'for', 'src/tax.js'))
  const document = JSON.parse(await repository.outrigger('companion', 'for', 'src/tax.js', '--json')) as ForDocument
  narrator.check('the command line names the same test', document.paths[0]?.companions[0]?.path === 'tests/tax.test.js')
}

interface ForDocument {
  readonly paths: readonly { readonly companions: readonly { readonly path: string }[] }[]
}

const ours = (request: ModelRequest | undefined): readonly string[] =>
  textsOf(request, 'user').filter(text => text.startsWith('[companion]'))
