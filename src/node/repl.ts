/** Opens a session of the REPL on the real machine, for every door. */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Store } from '../ports/store.ts'
import { openSession } from '../repl/session.ts'
import type { OpenRecord, ReplConfig, ReplSession } from '../repl/types.ts'
import { replConfig } from '../runtime/config-repl.ts'
import type { Environment, Project } from '../runtime/project.ts'
import { openStore } from '../store/open.ts'
import { isOfThisBoot, isOwnerAlive } from './boot.ts'
import { createFindMatches } from './find-matches.ts'
import { nodeWorkers } from './worker-process.ts'

export interface OpenReplOptions {
  /** A name in the project's state, or a folder that holds the whole session. */
  readonly session: string
  /** Directory of the cells, absolute; default the project's root. */
  readonly cwd?: string
  /** What programs that a cell starts find in their environment; default the one of this process. */
  readonly env?: Environment
  /** Nearer than the configuration. */
  readonly override?: Partial<ReplConfig>
}

const sessionName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** A name of a session in the project, and not a folder of its own. */
export function isSessionName(session: string): boolean {
  return sessionName.test(session)
}

/** Throws `REPL_HELD` (exit 4), `REPL_BAD_NAME`, `REPL_BAD_CONFIG`, `REPL_DISABLED` (exit 3), and what the store throws. */
export async function openRepl(project: Project, options: OpenReplOptions): Promise<ReplSession> {
  const config = { ...replConfig(project.config.section('repl')), ...options.override }
  if (!config.enabled) {
    throw new OutriggerError('REPL_DISABLED', 'the REPL is turned off', {
      subject: 'repl.enabled',
      hint: 'set `enabled: true` below `repl` in the configuration',
      exit: 3,
    })
  }
  const cwd = options.cwd ?? project.root
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OutriggerError('REPL_BAD_REQUEST', `${cwd} is no folder`, { subject: cwd, hint: 'give a folder with --cwd' })
  }
  const { store, name, close } = await storeOf(project, options.session)
  try {
    const session = await openSession({
      name,
      cwd,
      store,
      workers: nodeWorkers(),
      clock: project.clock,
      owner: project.processes.owner(),
      config,
      env: options.env ?? project.env,
      platform: platform(),
      legacyDecorators: asksForLegacyDecorators(cwd),
      findMatches: createFindMatches(),
      mask: text => project.mask(text),
      isTimeFixed: (project.env['OUTRIGGER_NOW'] ?? '') !== '',
      fixed: fixedSources(project),
      isFolder: path => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
      openFork: async to => {
        const target = await storeOf(project, to)
        if (target.name === name && target.store === store) {
          target.close()
          throw new OutriggerError('REPL_BAD_REQUEST', `${to} is this session`, {
            subject: to,
            hint: 'give a folder or a name that is new',
          })
        }
        return target
      },
    })
    return closingToo(session, close)
  } catch (error) {
    close()
    throw error
  }
}

async function storeOf(
  project: Project,
  session: string,
): Promise<{ readonly store: Store; readonly name: string; close(): void }> {
  if (isSessionName(session)) return { store: await project.store(), name: session, close: () => {} }
  if (!/[/\\]|^\.{1,2}$/.test(session)) {
    throw new OutriggerError('REPL_BAD_NAME', `${JSON.stringify(session)} is no name of a session`, {
      subject: session,
      hint: 'use letters, digits, dots, dashes and underscores (64 at most), or give a folder with a slash in it',
    })
  }
  const folder = resolve(project.root, session)
  const store = openStore(
    { state: folder, userState: null, isShared: true },
    { isDead: owner => isOfThisBoot(owner) && !isOwnerAlive(owner) },
  )
  try {
    return { store, name: await nameIn(store, basename(folder)), close: () => store.close() }
  } catch (error) {
    store.close()
    throw error
  }
}

/** The folder is the session, whatever it is called now: one that was moved or copied goes on under the name that it has inside. */
async function nameIn(store: Store, folder: string): Promise<string> {
  const usual = sessionName.test(folder) ? folder : 'session'
  const names = (await store.list('repl/')).flatMap(key => /^repl\/([^/]+)\/journal$/.exec(key)?.[1] ?? [])
  return names.length === 1 ? names[0]! : usual
}

/** Where clocks of cells start and what their random numbers derive from, for runs that print the same bytes. */
function fixedSources({ env, clock }: Project): { readonly now?: number; readonly seed?: string } {
  const seed = env['OUTRIGGER_SEED'] ?? ''
  return { ...((env['OUTRIGGER_NOW'] ?? '') !== '' && { now: clock.now() }), ...(seed !== '' && { seed }) }
}

/** The session, and the store that was opened for it alone. */
function closingToo(session: ReplSession, close: () => void): ReplSession {
  const end = session.close.bind(session)
  session.close = async () => {
    await end()
    close()
  }
  return session
}

let platformOnce: OpenRecord['env'] | undefined

function platform(): OpenRecord['env'] {
  if (platformOnce === undefined) {
    const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions()
    const { node, v8, icu } = process.versions
    platformOnce = { node, v8, icu: icu ?? '', platform: process.platform, arch: process.arch, tz: timeZone, lang: locale }
  }
  return platformOnce
}

/** The nearest `tsconfig.json` at or above the folder sets `experimentalDecorators`. */
function asksForLegacyDecorators(cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const text = read(join(folder, 'tsconfig.json'))
    if (text !== undefined) return /"experimentalDecorators"\s*:\s*true/.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ''))
    if (folder === dirname(folder)) return false
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
