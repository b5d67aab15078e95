/**
 * Loads SQLite of Node without its notice that the module is experimental: the notice is for who chose
 * the module, not for everyone who runs a command. All other warnings come through.
 *
 * The module is asked for here, on the first use, because a static import would print before any code ran.
 */
import type { DatabaseSync } from 'node:sqlite'
import { OutriggerError } from '../errors.ts'

type SqliteModule = typeof import('node:sqlite')

let loaded: SqliteModule | undefined

/** Opens or makes the file. Throws `STORE_UNAVAILABLE` when this Node has no SQLite. */
export function openDatabase(file: string): DatabaseSync {
  loaded ??= load()
  return new loaded.DatabaseSync(file)
}

function load(): SqliteModule {
  const emit = process.emitWarning
  const quiet = (warning: string | Error, ...rest: unknown[]): void => {
    const type = typeof rest[0] === 'string' ? rest[0] : (rest[0] as { type?: string } | undefined)?.type
    if (type === 'ExperimentalWarning' && /sqlite/i.test(String(warning))) return
    Reflect.apply(emit, process, [warning, ...rest])
  }
  process.emitWarning = quiet as typeof process.emitWarning
  let found: SqliteModule | undefined
  try {
    found = process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emit
  }
  if (found !== undefined) return found
  throw new OutriggerError('STORE_UNAVAILABLE', `Node ${process.version} has no SQLite`, {
    subject: process.version,
    hint: 'use Node 22.19 or later, or 24',
    exit: 3,
  })
}
