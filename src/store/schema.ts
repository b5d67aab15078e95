/**
 * What stands in the database, by version. A version is never edited once released: a change is a
 * further step. The number stands in `user_version`, the mark of ours in `application_id`.
 */
import type { DatabaseSync } from 'node:sqlite'
import { OutriggerError } from '../errors.ts'

/** "OTRG". */
const applicationId = 0x4f545247

const steps: readonly string[] = [
  `CREATE TABLE streams (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL) STRICT;
   CREATE TABLE records (
     stream INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE, seq INTEGER NOT NULL, record TEXT NOT NULL,
     UNIQUE (stream, seq)
   ) STRICT;
   CREATE TABLE documents (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
   CREATE TABLE leases (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;`,
]

export const schemaVersion: number = steps.length

/** Brings a new or older database to the version of now. Throws `STORE_TOO_NEW`, and `STORE_DAMAGED` for a database that is not ours. */
export function migrate(database: DatabaseSync, file: string): void {
  if (versionOf(database, file) === schemaVersion) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have done it while this one waited for the lock.
    for (const step of steps.slice(versionOf(database, file))) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${schemaVersion}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function versionOf(database: DatabaseSync, file: string): number {
  const version = numberOf(database, 'user_version')
  const application = numberOf(database, 'application_id')
  const isEmpty = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0
  if (application !== applicationId && !(isEmpty && application === 0)) {
    throw new OutriggerError('STORE_DAMAGED', `${file} is a database of another program`, {
      subject: file,
      hint: `move ${file} away; a new one is made by the next write`,
      exit: 3,
    })
  }
  if (version > schemaVersion) {
    throw new OutriggerError(
      'STORE_TOO_NEW',
      `${file} was written by a later version of Outrigger (format ${version}, known up to ${schemaVersion})`,
      {
        subject: file,
        hint: 'update Outrigger, or move the file away; a new one is made by the next write',
        exit: 3,
      },
    )
  }
  return version
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma] ?? 0)
}
