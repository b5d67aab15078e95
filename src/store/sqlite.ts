/**
 * The store in one SQLite file, shared by all processes of a machine that work on the project.
 *
 * Write-ahead log with a sync at every commit: what was acknowledged survives a kill and a power cut; a writer that says so
 * goes without the sync, and its records survive a kill only.
 * Every change is one immediate transaction, so a writer never works from what it read before it held the
 * lock. A process that finds the file busy waits a moment in SQLite, then without blocking its own
 * event loop.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { HeldLease, Lease, LeaseRefused, Store, StoredRecord, Versioned, WriteOptions } from '../ports/store.ts'
import { migrate } from './schema.ts'
import { openDatabase } from './sqlite-module.ts'

export interface SqliteOptions {
  /** The holder's process is gone for certain. */
  isDead(owner: string): boolean
  /** ms since the epoch, for leases; the machine's clock by default. */
  now?(): number
  /** How long to wait for other processes before `STORE_BUSY`; 10 s by default. */
  readonly waitMs?: number
}

const pageSize = 500

/**
 * Open the file, or make it.
 *
 * Throws `STORE_DAMAGED` (no database, or a broken one), `STORE_TOO_NEW` (of a later version of this
 * program), `STORE_BUSY` (another process holds it for longer than `waitMs`), `STORE_UNAVAILABLE`.
 */
export async function openSqliteStore(file: string, options: SqliteOptions): Promise<Store> {
  const waitMs = options.waitMs ?? 10_000
  let database: DatabaseSync
  try {
    database = openDatabase(file)
  } catch (error) {
    throw coded(file, error)
  }
  try {
    await whileBusy(waitMs, () => {
      // While SQLite waits nothing else runs in this process: it waits a moment, the rest is waited for beside.
      database.exec('PRAGMA busy_timeout = 5')
      database.exec('PRAGMA journal_mode = WAL')
      database.exec('PRAGMA synchronous = FULL')
      database.exec('PRAGMA foreign_keys = ON')
      migrate(database, file)
    })
  } catch (error) {
    database.close()
    throw coded(file, error)
  }
  return storeOn(database, file, { ...options, waitMs })
}

function storeOn(database: DatabaseSync, file: string, options: SqliteOptions & { readonly waitMs: number }): Store {
  const now = options.now ?? Date.now
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  let isClosed = false
  let syncedFor: WriteOptions['survives'] = 'power-loss'

  function query(sql: string) {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  async function attempt<T>(work: () => T): Promise<T> {
    if (isClosed) throw new OutriggerError('STORE_UNAVAILABLE', 'the store is closed', { subject: file, exit: 3 })
    try {
      return await whileBusy(options.waitMs, work)
    } catch (error) {
      throw coded(file, error)
    }
  }

  /** All or nothing; the lock is taken before the first read. */
  const change = <T>(work: () => T, survives: WriteOptions['survives'] = 'power-loss'): Promise<T> =>
    attempt(() => {
      // Counts for the commits behind it; said only when it changes.
      if (survives !== syncedFor) {
        database.exec(survives === 'process' ? 'PRAGMA synchronous = NORMAL' : 'PRAGMA synchronous = FULL')
        syncedFor = survives
      }
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        database.exec('COMMIT')
        return result
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    })

  return {
    append: (stream, record, { survives } = {}) =>
      change(() => {
        const row = query(
          'INSERT INTO streams (name, last) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING id, last',
        ).get(stream) as { id: number; last: number }
        query('INSERT INTO records (stream, seq, record) VALUES (?, ?, ?)').run(row.id, row.last, JSON.stringify(record))
        return row.last
      }, survives),

    async *read(stream, after): AsyncIterable<StoredRecord> {
      let last = after
      for (;;) {
        const page = await attempt(
          () =>
            query(
              'SELECT seq, record FROM records WHERE stream = (SELECT id FROM streams WHERE name = ?) AND seq > ? ORDER BY seq LIMIT ?',
            ).all(stream, last, pageSize) as unknown as { seq: number; record: string }[],
        )
        for (const { seq, record } of page) {
          last = seq
          yield { seq, record: parse(record, file) }
        }
        if (page.length < pageSize) return
      }
    },

    async get(key): Promise<Versioned | undefined> {
      const row = await attempt(() => query('SELECT value, version FROM documents WHERE key = ?').get(key) as Row | undefined)
      return row && { value: parse(row.value, file), version: row.version }
    },

    async put(key, value, expected, { survives } = {}): Promise<Versioned> {
      const text = JSON.stringify(value)
      const version = await change(() => {
        const found = versionOf(key)
        if (found !== expected) throw versionMoved(key, found, expected)
        query(
          'INSERT INTO documents (key, value, version) VALUES (?, ?, 1) ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = version + 1',
        ).run(key, text)
        return found + 1
      }, survives)
      return { value: JSON.parse(text) as Json, version }
    },

    async list(prefix) {
      const rows = await attempt(
        () =>
          query(
            `SELECT key FROM documents WHERE substr(key, 1, length(:prefix)) = :prefix
             UNION SELECT name FROM streams WHERE substr(name, 1, length(:prefix)) = :prefix`,
          ).all({ prefix }) as unknown as { key: string }[],
      )
      return rows.map(row => row.key).sort()
    },

    remove: (key, expected) =>
      change(() => {
        const found = versionOf(key)
        if (expected !== undefined) {
          if (found === 0) return false
          if (found !== expected) throw versionMoved(key, found, expected)
          return query('DELETE FROM documents WHERE key = ?').run(key).changes > 0
        }
        query('DELETE FROM documents WHERE key = ?').run(key)
        const streams = query('DELETE FROM streams WHERE name = ?').run(key).changes
        return found > 0 || streams > 0
      }),

    async lease(key, owner, ttlMs, { take = false } = {}): Promise<Lease | LeaseRefused> {
      return change((): Lease | LeaseRefused => {
        const held = query('SELECT owner, until FROM leases WHERE key = ?').get(key) as
          | { owner: string; until: number }
          | undefined
        const isFree = held === undefined || held.owner === owner || held.until <= now() || take || options.isDead(held.owner)
        if (!isFree) return { held: false, holder: held.owner, until: held.until }
        const until = now() + ttlMs
        query(
          'INSERT INTO leases (key, owner, until) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until',
        ).run(key, owner, until)
        const release = async () => {
          if (isClosed) return
          await change(() => query('DELETE FROM leases WHERE key = ? AND owner = ?').run(key, owner), 'process')
        }
        return { held: true, key, owner, until, release }
        // A power cut ends every holder: an owner of another boot counts as gone.
      }, 'process')
    },

    leases: () =>
      attempt(() => {
        const rows = query('SELECT key, owner, until FROM leases WHERE until > ? ORDER BY key').all(
          now(),
        ) as unknown as HeldLease[]
        return rows.filter(row => !options.isDead(row.owner)).map(({ key, owner, until }) => ({ key, owner, until }))
      }),

    close() {
      if (isClosed) return
      isClosed = true
      database.close()
    },
  }

  /** 0: there is none. */
  function versionOf(key: string): number {
    return (query('SELECT version FROM documents WHERE key = ?').get(key) as { version: number } | undefined)?.version ?? 0
  }
}

interface Row {
  readonly value: string
  readonly version: number
}

/** Tries again while another process holds the file; waits are uneven, so that two waiters do not march in step. */
async function whileBusy<T>(waitMs: number, work: () => T): Promise<T> {
  const start = performance.now()
  for (let round = 1; ; round += 1) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() - start >= waitMs) throw error
      await sleep(Math.min(5 * round, 50) * (0.5 + Math.random()))
    }
  }
}

/** The primary result code of SQLite; the higher bits only refine it. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 5 || code === 6
}

function coded(file: string, error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === undefined || error instanceof OutriggerError) return error
  if (code === 11 || code === 26) return damaged(file, error)
  const why = error instanceof Error ? error.message : String(error)
  if (isBusy(error)) {
    return new OutriggerError('STORE_BUSY', `another process holds the store ${file}`, {
      subject: file,
      hint: 'try again in a moment',
      exit: 4,
      cause: error,
    })
  }
  return new OutriggerError('STORE_UNAVAILABLE', `the store ${file} cannot be used: ${why}`, {
    subject: file,
    hint: code === 13 ? 'make room on the disk' : 'check the permissions of its folder; `outrigger doctor` shows where it lies',
    exit: 3,
    cause: error,
  })
}

function damaged(file: string, cause: unknown): OutriggerError {
  return new OutriggerError('STORE_DAMAGED', `${file} is damaged or no store of Outrigger`, {
    subject: file,
    hint: `move ${file} and its -wal and -shm files away; a new one is made by the next write`,
    exit: 3,
    cause,
  })
}

function parse(text: string, file: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw damaged(file, error)
  }
}

function versionMoved(key: string, found: number, expected: number): OutriggerError {
  return new OutriggerError('STORE_VERSION_MOVED', `"${key}" has version ${found}, expected ${expected}`, {
    subject: key,
    hint: 'read it again and decide anew',
    exit: 4,
  })
}
