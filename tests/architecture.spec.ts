import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const leaves = ['text', 'ports', 'session', 'errors.ts']
const engines = ['keel', 'pack', 'repl', 'companion', 'next-step']

/** Modules of Node that only compute: no file, process, clock or network behind them. */
const pure = ['node:crypto', 'node:zlib', 'node:buffer', 'node:util']

/** Folder of `src` → what it may import beside itself. Doors, `node` and `store` stand outside: they may import all of these. */
const mayImport: Record<string, readonly string[]> = {
  text: [],
  ports: ['errors.ts'],
  session: ['text', 'ports', 'errors.ts'],
  ...Object.fromEntries(engines.map(engine => [engine, leaves])),
  runtime: [...leaves, ...engines],
}

const folderOf = (path: string) => path.split('/')[1]!
const files = globSync('src/*/**/*.ts').filter(file => folderOf(file) in mayImport)

const specifiersOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(match => match[1]!)

/** The child process that runs cells: a program of its own, started by `node/`, which shares no memory with an engine. */
const isProgram = (file: string) => file.startsWith('src/repl/worker/')

describe('imports', () => {
  it.each(files)('of %s point upward, and not at the machine', file => {
    const specifiers = specifiersOf(file)
    const allowed = [folderOf(file), ...mayImport[folderOf(file)]!]
    const wrong = specifiers.filter(specifier =>
      specifier.startsWith('.')
        ? !allowed.includes(folderOf(join(dirname(file), specifier)))
        : specifier.startsWith('node:') && !pure.includes(specifier) && !isProgram(file),
    )
    expect(wrong).toEqual([])
  })

  it('of the worker program are its own: no other file runs its code', () => {
    const wrong = files.filter(
      file => !isProgram(file) && readFileSync(file, 'utf8').match(/from '[^']*\/worker\/(?!protocol|tape)/),
    )
    expect(wrong).toEqual([])
  })

  it('of Node’s HTTP are types: the module itself would load all of fetch, which a hook call has no time for', () => {
    const wrong = globSync('src/**/*.ts').filter(
      file => folderOf(file) !== 'demo' && /^import (?!type)[^\n]*'node:https?2?'/m.test(readFileSync(file, 'utf8')),
    )
    expect(wrong).toEqual([])
  })

  it('name the DSH host only in its own door', () => {
    const wrong = globSync('src/**/*.ts').filter(
      file => folderOf(file) !== 'dsh' && specifiersOf(file).some(name => name.startsWith('@deepseek-ai/')),
    )
    expect(wrong).toEqual([])
  })
})
