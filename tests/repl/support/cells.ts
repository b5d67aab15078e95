/** Runs cells in this process: each session has a realm of its own. Loads builtin modules only, and files by absolute path. */
import vm from 'node:vm'
import { compile } from '../../../src/repl/compile/compile.ts'
import { rejectSyntaxError } from '../../../src/repl/compile/diagnose.ts'
import { mapStack } from '../../../src/repl/compile/frames.ts'
import { linkSource } from '../../../src/repl/compile/link.ts'
import { platformNamesOf } from '../../../src/repl/compile/names.ts'
import type { CompileRequest, Program, Rejection, SourcePosition } from '../../../src/repl/compile/program.ts'
import type { NameChanges, SessionNames } from '../../../src/repl/compile/runtime.ts'
import { createSessionNames } from '../../../src/repl/compile/session-names.ts'

export type CellResult = NameChanges & {
  readonly outcome: 'ok' | 'threw' | 'rejected'
  readonly value?: unknown
  readonly echo?: { readonly value: unknown }
  readonly error?: {
    readonly code: string
    readonly name: string
    readonly message: string
    readonly position?: SourcePosition
    readonly thrown?: unknown
  }
  readonly rejection?: Rejection
  readonly program?: Program
}

export interface Cells {
  readonly global: Record<string, unknown>
  readonly names: SessionNames
  run(source: string, options?: Partial<CompileRequest>): Promise<CellResult>
}

const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER

export function createCells(): Cells {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY)
  const global = vm.runInContext('globalThis', context) as Record<string, unknown>
  Object.assign(global, { setTimeout, fetch, URL, process, console, structuredClone })
  const platformNames = platformNamesOf(global)
  Object.defineProperty(global, 'require', { value: process.getBuiltinModule, configurable: true, writable: true })
  const meta = vm.runInContext('({ url: "file:///here/", dirname: "/here" })', context) as object
  const names = createSessionNames({ global, platformNames, meta: () => meta })
  const programs = new Map<number, Program>()
  let cell = 0
  const unchanged: NameChanges = { added: [], changed: [], removed: [] }

  const linkAll = async (program: Program): Promise<void> => {
    const loaded: (readonly [Program['imports'][number], Record<string, unknown>])[] = []
    for (const item of program.imports) {
      const url = `data:text/javascript,${encodeURIComponent(linkSource(item))}`
      loaded.push([item, (await import(url)) as Record<string, unknown>])
    }
    for (const [item, module] of loaded)
      for (const [index, binding] of item.bindings.entries()) names.bindImport(binding, () => module[`b${index}`])
  }

  return {
    global,
    names,
    async run(source, options = {}) {
      cell++
      const request: CompileRequest = {
        cell,
        source,
        known: names.kinds,
        namespaces: new Set(['tools', 'outrigger']),
        platformNames,
        echo: 'return',
        decorators: 'standard',
        jsx: 'off',
        ...options,
      }
      const program = await compile(request)
      if (program.kind === 'rejected') return { outcome: 'rejected', ...unchanged, rejection: program, error: { ...program } }
      programs.set(cell, program)
      names.prepare(program)
      try {
        await linkAll(program)
      } catch (error) {
        const at = program.positions.locate(program.imports[0]!.start)
        return {
          outcome: 'rejected',
          ...unchanged,
          program,
          error: { code: 'OUT-C004', name: (error as Error).name, message: (error as Error).message, position: at },
        }
      }
      let start: (helpers: object) => Promise<unknown>
      try {
        start = new vm.Script(program.code, {
          filename: program.fileName,
          columnOffset: program.columnOffset,
          importModuleDynamically,
        }).runInContext(context)
      } catch (error) {
        const rejection = rejectSyntaxError(program, error as Error)
        return { outcome: 'rejected', ...unchanged, program, rejection, error: { ...rejection } }
      }
      try {
        const value = await start(names.helpers(program))
        const changes = names.finish()
        const echo = names.takeEcho()
        return { outcome: 'ok', value, ...(echo !== undefined && { echo }), program, ...changes }
      } catch (error) {
        const changes = names.finish()
        const thrown = error as { readonly name?: string; readonly message?: string; readonly stack?: string } | null | undefined
        const position =
          typeof thrown?.stack === 'string' ? mapStack(thrown.stack, number => programs.get(number), cell).position : undefined
        return {
          outcome: 'threw',
          program,
          ...changes,
          error: {
            code: 'OUT-X001',
            name: String(thrown?.name ?? 'Thrown'),
            message: String(thrown?.message ?? error),
            thrown: error,
            ...(position !== undefined && { position }),
          },
        }
      }
    },
  }
}

/** Run cells of one session in order and give the value of the last. */
export async function lastValue(...sources: readonly string[]): Promise<unknown> {
  const cells = createCells()
  let last: CellResult | undefined
  for (const source of sources) last = await cells.run(source)
  if (last?.outcome !== 'ok') throw last?.error?.thrown ?? new Error(`${last?.error?.code} ${last?.error?.message}`)
  return last.value
}
