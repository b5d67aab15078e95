/** companion in a session of the real program: asserted on the requests that reached the model and on the ledger. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { type ApiRequest, type Reply, wordsOf } from '../../support/claude-code/fake-api.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
if ('missing' in program) console.warn(`skipped: the real program ${version} cannot be had (${program.missing})`)

const testOf = (name: string) =>
  `import { test } from 'node:test'\nimport { ${name} } from '../src/${name}.js'\ntest('${name}', () => ${name}())\n`
const files = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  'package.json': '{ "name": "shop", "type": "module" }\n',
  'README.md': '# shop\n\nHas 4 tests.\n',
  ...Object.fromEntries(
    ['one', 'two', 'three'].flatMap(name => [
      [`src/${name}.js`, `export const ${name} = () => 0\n`],
      [`tests/${name}.test.js`, testOf(name)],
    ]),
  ),
}

const read = (path: string): Reply => ({ tool: 'Read', input: { file_path: path } })
const edit = (path: string): Reply => ({ tool: 'Edit', input: { file_path: path, old_string: '=> 0', new_string: '=> 1' } })
const bash = (command: string): Reply => ({ tool: 'Bash', input: { command } })

/** Steps of one conversation, told apart by a word of its first message: each answers when all before it have results. */
const scripts: Readonly<Record<string, (root: string) => readonly Reply[]>> = {
  MAIN: root => [
    {
      tool: 'Agent',
      input: { description: 'help', prompt: 'HELPER', subagent_type: 'general-purpose', run_in_background: false },
    },
    read(`${root}/src/one.js`),
    edit(`${root}/src/one.js`),
    read(`${root}/src/two.js`),
    edit(`${root}/src/two.js`),
    bash('node --test'),
    'Done.',
  ],
  HELPER: root => [read(`${root}/src/three.js`), edit(`${root}/src/three.js`), 'Helped.'],
}

const firstWords = ({ messages }: ApiRequest) =>
  wordsOf(messages.find(({ role }) => role === 'user') ?? { role: 'user', content: '' })
const nameOf = (request: ApiRequest) => Object.keys(scripts).find(name => firstWords(request).includes(name))
const stepOf = ({ messages }: ApiRequest) => messages.filter(({ role }) => role === 'assistant').length

describe.skipIf('missing' in program)(`companion in Claude Code ${version}`, { timeout: 60_000 }, () => {
  let claude: Claude
  beforeAll(async () => {
    claude = await startClaude('bin' in program ? program.bin : '')
  }, 120_000)
  afterAll(() => claude?.close())

  /** What companion said in the conversation that a request shows, each message once. */
  const said = (request: ApiRequest | undefined): readonly string[] =>
    (request?.messages ?? [])
      .map(wordsOf)
      .join('\n')
      .split('hook additional context: ')
      .filter(text => text.startsWith('[companion]'))
      .map(text => text.split('\n').slice(0, 3).join('\n'))

  it('notes once, rests, tells a number that the tests refute; what a helper did is told to the helper alone', async () => {
    const root = claude.folder(files)
    claude.api.answer = request => scripts[nameOf(request) ?? '']?.(root)[stepOf(request)]
    const tools = ['Bash', 'Read', 'Edit', 'Agent']
    const args = ['--plugin-dir', claude.plugin, '--permission-mode', 'dontAsk', '--allowedTools', ...tools]
    expect(await claude.session(root, ['MAIN'], { args })).toEqual(['Done.'])

    const ofMain = claude.api.requests.filter(request => nameOf(request) === 'MAIN')
    expect(ofMain.map(request => said(request).length)).toEqual([0, 0, 0, 1, 1, 1, 2])
    expect(said(ofMain.at(-1))).toEqual([
      [
        '[companion] intent=Tests confidence=0.97 candidates=1',
        '- tests/one.test.js - because it imports src/one.js; its name follows src/one.js',
        'note: these tests exercise what changed; update them if its behaviour moved.',
      ].join('\n'),
      [
        '[companion] reconciliation package=shop drifts=1 expected=4 actual=3',
        '- README.md:3 - the claim differs from the last whole run (expected 4, actual 3)',
        'note: these numbers were counted; correct the text, or the code if the text is right.',
      ].join('\n'),
    ])

    const ofHelper = claude.api.requests.filter(request => nameOf(request) === 'HELPER')
    expect(ofHelper.map(request => said(request).length)).toEqual([0, 0, 1])
    expect(said(ofHelper.at(-1))[0]).toContain('- tests/three.test.js - because')

    const lines = (await claude.outrigger(root, ['ledger', '--engine', 'companion', '--json'])).trim().split('\n')
    expect(lines.map(line => (JSON.parse(line) as { readonly text: string }).text)).toEqual([
      expect.stringMatching(/^companion: activated \(bundle \S+, intents 4, threshold 0\.75\)$/),
      'companion: suggest Tests 0.97 1 candidates call edit',
      'companion: suggest Tests 0.97 1 candidates call edit',
      'companion: suppressed cooldown Tests',
      'companion: reconciliation drift 1 drifts shop (4 expected, 3 actual) call bash',
    ])
  })
})
