/**
 * Where a project's store lies: `.outrigger/state/store.db`, readable by the user only; in the user's
 * state folder when the project cannot be written. The folder is made by the first write.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { OutriggerError } from '../errors.ts'
import { leadsOut } from '../node/own-folder.ts'

export interface StorePlaces {
  /** Nothing is made, here or elsewhere, while this folder is not there: its project is gone. Left out: not asked. */
  readonly root?: string
  /** `.outrigger/state` of the project. */
  readonly state: string
  /** The project's folder below the user's state folder; `null` without a home folder. */
  readonly userState: string | null
  /** Other files may lie beside the store, and git is to see them. */
  readonly isShared?: boolean
}

export interface StoreFile {
  readonly file: string
  /** Why it does not lie in the project, as a system's code. */
  readonly notInProject?: string
}

const fileName = 'store.db'

/** The store that is there; `undefined` when there is none. Creates nothing. */
export function findStore(places: StorePlaces): StoreFile | undefined {
  const inProject = join(places.state, fileName)
  const inUser = places.userState === null ? undefined : join(places.userState, fileName)
  if (existsSync(inProject)) {
    const refused = linkedOut(places) ?? whyNotWritable(places.state, inProject)
    if (refused === undefined) return { file: inProject }
    // Written to after the project became read-only, or readable only by chance: the user's copy is the living one.
    return inUser !== undefined && existsSync(inUser) ? { file: inUser, notInProject: refused } : undefined
  }
  return inUser !== undefined && existsSync(inUser) ? { file: inUser, notInProject: 'EACCES' } : undefined
}

/** Makes the folder and an empty file when they are missing. Throws `STORE_UNAVAILABLE` when no place can be written. */
export function makeStore(places: StorePlaces): StoreFile {
  if (places.root !== undefined && !existsSync(places.root)) {
    throw new OutriggerError('STORE_UNAVAILABLE', `the folder of the project is gone: ${places.root}`, {
      subject: places.root,
      hint: 'open the project where it lies now',
      exit: 3,
    })
  }
  const refused = linkedOut(places) ?? tryMake(places.state, places.isShared)
  if (refused === undefined) return { file: join(places.state, fileName) }
  const second = places.userState === null ? 'no home folder' : tryMake(places.userState)
  if (places.userState !== null && second === undefined) return { file: join(places.userState, fileName), notInProject: refused }
  throw new OutriggerError('STORE_UNAVAILABLE', `no place for the store can be written (${refused}, ${second})`, {
    subject: places.state,
    hint: `make ${places.userState ?? places.state} writable`,
    exit: 3,
  })
}

/** The folder of the state, private and ignored by git: all of it, or where others keep files in it the store alone. Throws the system's error. */
export function makeStateFolder(folder: string, isShared = false): void {
  // The folder above is shared with the project's own files and keeps the usual mode.
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(join(folder, '.gitignore'), isShared ? `/.gitignore\n/${fileName}*\n` : '*\n', { flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** `ELOOP` where a link of the repository leads the state out of the project. */
function linkedOut({ root, state }: StorePlaces): 'ELOOP' | undefined {
  const looks = {
    lstat: (path: string) => {
      try {
        return lstatSync(path, { throwIfNoEntry: false }) as never
      } catch {
        return undefined // a file in place of a folder above it: nothing is there
      }
    },
    realpath: (path: string) => {
      try {
        return realpathSync(path)
      } catch {
        return undefined // a link to nothing, or a loop
      }
    },
  }
  return root !== undefined && (leadsOut(looks, root, state) || leadsOut(looks, root, join(state, fileName)))
    ? 'ELOOP'
    : undefined
}

/** Why not, as a system's code. */
function tryMake(folder: string, isShared = false): string | undefined {
  const file = join(folder, fileName)
  try {
    makeStateFolder(folder, isShared)
    // Made here and not by SQLite, whose files are readable by everyone; its side files take this one's mode.
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600))
    return whyNotWritable(folder, file)
  } catch (error) {
    return codeOf(error)
  }
}

function whyNotWritable(folder: string, file: string): string | undefined {
  try {
    // SQLite makes its side files beside the database.
    accessSync(folder, constants.W_OK | constants.X_OK)
    accessSync(file, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
}
