/** The prompt of `outrigger repl` as a person has it, under a real pseudo-terminal. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildProgram, type Program } from '../../support/cli/program.ts'
import { noTerminal, startTerminal, type Terminal } from '../../support/cli/terminal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

describe.skipIf(noTerminal !== undefined)('the prompt', () => {
  let program: Program
  beforeAll(async () => {
    program = await buildProgram()
  })
  afterAll(() => program?.remove())

  const open = async (cwd: string, env = {}): Promise<Terminal> => {
    const terminal = startTerminal(program, cwd, ['repl'], env)
    await terminal.see('.help shows the commands')
    await terminal.see('> ')
    return terminal
  }

  it('takes cells over several lines, breaks off a loop with Ctrl-C and keeps the names', async () => {
    const { type, see, exit } = await open(program.folder())
    type('const total = (\r')
    await see('… ')
    type('20 + 2)\r')
    await see('> ')
    type('total\r')
    await see('22\n')
    type('while (true) {}\r')
    await new Promise(done => setTimeout(done, 400))
    type('\x03')
    await see('OUT-A001 Cancelled.')
    await see('> ')
    type('total + 1\r')
    await see('23\n')
    type('.exit\r')
    expect(await exit).toBe(0)
  })

  it('forgets a half-typed cell at the first Ctrl-C, and leaves at the second on an empty line', async () => {
    const { type, see, exit } = await open(program.folder())
    type('const half = {\r')
    await see('… ')
    type('\x03')
    await see('> ')
    type('1 + 1\r')
    await see('2\n')
    type('\x03')
    await see('Ctrl-C again')
    type('\x03')
    expect(await exit).toBe(0)
  })

  it('leaves at Ctrl-D', async () => {
    const { type, exit } = await open(program.folder())
    type('\x04')
    expect(await exit).toBe(0)
  })

  it('completes names and properties without running a getter', async () => {
    const { type, press, see, exit } = await open(program.folder())
    type('let reads = 0; const customer = { firstName: "Ada", get lastName() { reads++; return "L" } }\r')
    await see('> ')
    await new Promise(done => setTimeout(done, 500))
    await press('cust\t.first\t\r')
    await see('"Ada"')
    await see('> ')
    await press('customer.last\t\x15reads\r')
    await see(/\n0\n/)
    await press('Math.ma\t(1, 3)\r')
    await see(/\n3\n/)
    await press('.hist\t\r')
    await see('customer')
    type('.exit\r')
    expect(await exit).toBe(0)
  })

  it('saves states, goes back to them, and says what is refused', async () => {
    const { type, see, exit } = await open(program.folder())
    type('let n = 1\r')
    await see('> ')
    type('.save base\r')
    await see('Saved as base.')
    type('n = 2\r')
    await see(/\n2\n/)
    type('.restore nothing\r')
    await see('REPL_UNKNOWN_STATE')
    type('.restore base\r')
    await see('1 name is back')
    type('n\r')
    await see(/\n1\n/)
    type('.fork 1 ./copy\r')
    await see('./copy begins at cell 1')
    type('.reset\r')
    await see('0 names are back')
    type('.exit\r')
    expect(await exit).toBe(0)
  })

  it('keeps what was typed for the next time, masked and for the user only', async () => {
    const cwd = program.folder()
    const secret = 'hunter2-hunter2-hunter2'
    const home = program.folder()
    const env = { MY_API_TOKEN: secret, XDG_STATE_HOME: home }
    const first = await open(cwd, env)
    first.type('"the answer is " + 42\r')
    await first.see('the answer is 42')
    first.type(`"${secret}".length\r`)
    await first.see('23\n')
    first.type('.exit\r')
    expect(await first.exit).toBe(0)
    const [file] = globSync('outrigger/*/repl-history', { cwd: home }).map(name => join(home, name))
    expect(readFileSync(file!, 'utf8')).not.toContain(secret)
    expect(readFileSync(file!, 'utf8')).toContain('the answer is')
    expect(statSync(file!).mode & 0o777).toBe(0o600)
    const second = await open(cwd, env)
    // Up: `.exit`, the secret's line, the first one.
    second.type('\x1b[A\x1b[A\x1b[A\r')
    await second.see('the answer is 42')
    second.type('.exit\r')
    expect(await second.exit).toBe(0)
  })
})
