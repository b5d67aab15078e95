/**
 * Cells of the host's agents: which session of the REPL an execution belongs to, and its answer in the words of the host. Whose call it is comes from the
 * host's own hook around it, by async context, because what the host hands to a code runtime names nobody.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CodeBindingNamespace, CodeRunRequest, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import type { ToolDispatchExecution } from '@deepseek-ai/dsh-tools'
import { OutriggerError } from '../../errors.ts'
import { nodeFiles } from '../../node/files.ts'
import { openProject } from '../../node/open.ts'
import { isSessionName, openRepl } from '../../node/repl.ts'
import type { Json } from '../../ports/json.ts'
import { readSession } from '../../repl/journal.ts'
import type { Tip } from '../../repl/tips.ts'
import type {
  ReplConfig,
  ReplSession,
  RunOptions,
  RunResult,
  SessionState,
  ToolCall,
  ToolDeclaration,
  ToolOutcome,
} from '../../repl/types.ts'
import { replConfig } from '../../runtime/config-repl.ts'
import { findRoot } from '../../runtime/places.ts'
import type { Project } from '../../runtime/project.ts'
import { noteSeam } from '../../runtime/repl-seam.ts'
import { createReplSessions, type ReplSessions } from '../../runtime/repl-sessions.ts'
import { createGuard } from '../guard.ts'
import { answerOf, failed } from './answer.ts'
import { createKept } from './kept.ts'
import { align, type CellMark, createMarks, newestMark } from './marks.ts'
import type { Seam } from './seam.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    outriggerRepl: DshRepl
  }
}

/** The edit that made the program of a call. */
export type CellEdit = NonNullable<RunOptions['edit']>

export interface DshRepl {
  /** Everything that `run` awaits happens for this execution. */
  during<T>(exec: ToolDispatchExecution, run: () => Promise<T>): Promise<T>
  /** `undefined`: it is no cell of a session, or the REPL is turned off; the host's own runtime has it. Never rejects. */
  run(request: CodeRunRequest): Promise<CodeRunResult | undefined>
  /** Whether the REPL is turned on in the agent's project. */
  isOn(agent: Agent): Promise<boolean>
  session(agent: Agent): Promise<ReplSession>
  config(agent: Agent): Promise<ReplConfig>
  /** What programs of the agent's project go through; what is degraded is told once and kept for doctor. */
  found(agent: Agent, seam: Seam): Promise<void>
  /** Something that an agent is not offered, in words. */
  degraded(agent: Agent, why: string): void
  /** What is known of a session's names within a quarter of a second; `undefined`: no cell ran in it here. */
  look(session: string): Promise<SessionState | undefined>
  /** The session's log has another row; cells whose result it is are confirmed. Never rejects. */
  logged(type: string, data: unknown): Promise<void>
  /** The hint that a call has earned, once. */
  takeTip(callId: string): Tip | undefined
  /** The execution with this call id will run the outcome of an edit. The answer takes the note away. */
  expectEdit(callId: string, edit: CellEdit, ran: (result: RunResult) => void): () => void
  /** Settings of the host changed. */
  changed(): Promise<void>
  disposed(agent: Agent): Promise<void>
  close(): Promise<void>
}

export interface ServiceOptions {
  readonly context: Context
  /** Keys that the host sets; nearer than the files. */
  settings(): Partial<ReplConfig>
  /** Whether this agent's programs are cells. */
  isServed(agent: Agent): boolean
  /** What is known of the host's tools, for checks and for `capabilities`. */
  describe(agent: Agent): ReadonlyMap<string, ToolDeclaration>
  /** One line for people. */
  warn(text: string): void
  /** The agent's names may be others now; asked for when somebody watches. */
  show(agent: Agent, state: () => Promise<SessionState | undefined>): void
  /** Programs of the agent's session run without the REPL, and why. */
  showDegraded(agent: Agent, why: string): void
}

interface Opened {
  readonly project: Project
  readonly sessions: ReplSessions
  readonly config: () => ReplConfig
  /** Of its agents, beside what the seam itself says. */
  readonly degraded: Set<string>
  seam: Seam | undefined
}

const lookMs = 250

export function createReplService(options: ServiceOptions): DshRepl {
  const current = new AsyncLocalStorage<ToolDispatchExecution>()
  const projects = new Map<string, Promise<Opened>>()
  const live = new Map<string, ReplSession>()
  const states = new Map<string, SessionState>()
  const tips = new Map<string, Tip>()
  const edits = new Map<string, { readonly edit: CellEdit; ran(result: RunResult): void }>()
  const guard = createGuard(options.warn)
  const marks = createMarks()
  const kept = createKept()

  const cwdOf = (agent: Agent): string => resolve(agent.session.header.cwd ?? process.cwd())

  const open = async (root: string): Promise<Opened> => {
    const project = await openProject({ cwd: root, env: process.env, door: 'dsh', isTerminal: false })
    const config = (): ReplConfig => ({ ...replConfig(project.config.section('repl')), ...options.settings() })
    const sessions = createReplSessions(() => config().maxWorkers)
    return { project, config, sessions, degraded: new Set(), seam: undefined }
  }

  const opened = (agent: Agent): Promise<Opened> => {
    const root = findRoot(nodeFiles(), cwdOf(agent))
    const known = projects.get(root)
    if (known !== undefined) return known
    const opening = open(root)
    projects.set(root, opening)
    opening.catch(() => projects.delete(root))
    return opening
  }

  const session = async (agent: Agent): Promise<ReplSession> => {
    const { project, sessions } = await opened(agent)
    const name = sessionName(agent.session.id)
    const open = (wanted: string) => openRepl(project, { session: wanted, cwd: cwdOf(agent), override: options.settings() })
    const cells = await sessions.get(name, async () => {
      const mark = newestMark(agent.session.events)
      await adopt(project, name, mark, async from => {
        const source = await sessions.get(from, () => open(from))
        await source.fork(mark!.cell, name)
      })
      const own = await open(name)
      await align(own, mark)
      return own
    })
    live.set(agent.id, cells)
    return cells
  }

  /** A worker that computes does not answer: then what was known before stands. */
  const look = async (id: string): Promise<SessionState | undefined> => {
    const cells = live.get(id)
    if (cells === undefined) return undefined
    const asked = cells.state().then(state => {
      states.set(id, state)
      return state
    })
    asked.catch(() => undefined)
    const known = states.get(id)
    if (known === undefined) return asked
    return Promise.race([asked, new Promise<SessionState>(resolve => setTimeout(() => resolve(known), lookMs).unref())])
  }

  const isOn = (agent: Agent): Promise<boolean> =>
    guard.run(agent.id, 'the configuration of the REPL', false, async () => {
      const { project, sessions, config } = await opened(agent)
      if (project.config.refresh()) await sessions.configure(config())
      project.config.check('repl')
      return config().enabled
    })

  const keepSeam = async ({ project, seam, degraded }: Opened): Promise<void> => {
    if (seam === undefined) return
    for (const why of seam.degraded) guard.tellOnce(`${project.root} ${why}`, `repl: degraded: ${why}`)
    await noteSeam(project, { host: 'dsh', seam: seam.seam, degraded: [...seam.degraded, ...degraded], confined: false })
  }

  const runCell = async (agent: Agent, exec: ToolDispatchExecution, request: CodeRunRequest): Promise<CodeRunResult> => {
    const { project, config } = await opened(agent)
    try {
      const cells = await session(agent)
      const edited = edits.get(exec.callId)
      const result = await cells.run(request.program, {
        ...optionsOf(request, options.describe(agent)),
        ...descriptionOf(exec.arguments),
        ...(edited !== undefined && { origin: 'edit' as const, edit: edited.edit }),
      })
      const placed = cells.node(result.cell)
      if (placed !== undefined) marks.set(exec, { session: cells.name, cell: result.cell, ...placed })
      kept.ran(exec.rootCallId, cells, result.cell)
      edited?.ran(result)
      options.show(agent, () => look(agent.id))
      // A hint is a context of its own, which the host's log keeps by its name.
      const { tip, ...told } = result
      if (tip !== undefined) tips.set(exec.callId, tip)
      return answerOf(told, config().modelChars)
    } catch (error) {
      if (!(error instanceof OutriggerError)) {
        const text = error instanceof Error ? error.message : String(error)
        const line = { what: 'failed', reason: 'INTERNAL', text }
        await project.ledger.write([{ ...line, engine: 'repl', session: agent.session.id, turn: null }]).catch(() => undefined)
        guard.tellOnce(`${agent.id} cell`, `a cell could not be run: ${text}`)
      }
      return failed(error)
    }
  }

  const closeAll = async (): Promise<void> => {
    const all = [...projects.values()]
    projects.clear()
    for (const result of await Promise.allSettled(all)) {
      if (result.status === 'rejected') continue
      await result.value.sessions.closeAll()
      await result.value.project.close()
    }
  }

  return {
    during: async (exec, run) => {
      const { agent } = exec
      if (agent !== undefined && exec.name === 'run_code') marks.project(options.context, agent)
      const result = await current.run(exec, run)
      kept.gave(exec.callId, (result as { readonly content?: unknown } | null)?.content)
      return marks.mark(exec, result)
    },
    run: async request => {
      const exec = current.getStore()
      const agent = exec?.agent
      if (exec === undefined || agent === undefined || exec.name !== 'run_code' || !options.isServed(agent)) return undefined
      if (!(await isOn(agent))) return undefined
      return runCell(agent, exec, request)
    },
    isOn,
    session,
    config: async agent => (await opened(agent)).config(),
    found: (agent, seam) =>
      guard.run(agent.id, 'the state of the REPL', undefined, async () => {
        const own = await opened(agent)
        if (own.seam?.seam === seam.seam) return
        own.seam = seam
        if (seam.degraded.length > 0) options.showDegraded(agent, seam.degraded.join('; '))
        await keepSeam(own)
      }),
    degraded: (agent, why) => {
      guard.tellOnce(`${agent.id} ${why}`, `repl: degraded for ${agent.id}: ${why}`)
      guard.start(agent.id, 'the state of the REPL', async () => {
        const own = await opened(agent)
        own.degraded.add(why)
        await keepSeam(own)
      })
    },
    look,
    // A confirmation that could not be written costs one repetition.
    logged: (type, data) => kept.logged(type, data).catch(() => undefined),
    takeTip: callId => {
      const tip = tips.get(callId)
      tips.delete(callId)
      return tip
    },
    expectEdit: (callId, edit, ran) => {
      edits.set(callId, { edit, ran })
      return () => void edits.delete(callId)
    },
    changed: async () => {
      for (const result of await Promise.allSettled(projects.values())) {
        if (result.status === 'fulfilled') await result.value.sessions.configure(result.value.config())
      }
    },
    disposed: async agent => {
      live.delete(agent.id)
      states.delete(agent.id)
      const known = projects.get(findRoot(nodeFiles(), cwdOf(agent)))
      await (await known)?.sessions.close(sessionName(agent.session.id))
    },
    close: closeAll,
  }
}

/** A session that was made of another's conversation begins where that one's cells were. */
async function adopt(
  project: Project,
  name: string,
  mark: CellMark | undefined,
  fork: (from: string) => Promise<void>,
): Promise<void> {
  if (mark === undefined || mark.session === name) return
  const store = await project.store()
  if ((await readSession(store, name)).journal.state.cells.size > 0) return
  const from = (await readSession(store, mark.session)).journal.state.cells.get(mark.cell)
  if (from?.end !== undefined) await fork(mark.session)
}

/** The session's name in the project's store; ids that are no such name get one that is theirs alone. */
export function sessionName(id: string): string {
  const name = `dsh-${id}`
  if (isSessionName(name)) return name
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16)
  return `dsh-${id.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 40)}-${digest}`
}

function descriptionOf(given: unknown): Pick<RunOptions, 'description'> {
  const description = (given as { readonly description?: unknown } | null | undefined)?.description
  return typeof description === 'string' ? { description: description.slice(0, 200) } : {}
}

function optionsOf({ bindings, signal }: CodeRunRequest, known: ReadonlyMap<string, ToolDeclaration>): RunOptions {
  const members = new Map(bindings.map(binding => [binding.global, binding]))
  const declared = Object.fromEntries(
    bindings.map(({ global, functions }) => [
      global,
      Object.keys(functions).map(name => (global === 'tools' ? (known.get(name) ?? { name }) : { name })),
    ]),
  )
  const { tools = [], ...namespaces } = declared
  return { tools, namespaces, call: call => carryOut(members.get(call.namespace), call), ...(signal !== undefined && { signal }) }
}

async function carryOut(binding: CodeBindingNamespace | undefined, call: ToolCall): Promise<ToolOutcome> {
  const carry = binding !== undefined && Object.hasOwn(binding.functions, call.name) ? binding.functions[call.name] : undefined
  if (carry === undefined) return { ok: false, message: `there is no ${call.namespace}.${call.name}` }
  try {
    return { ok: true, value: (await carry(call.arguments)) as Json }
  } catch (error) {
    // The tool's own refusal, in the host's words.
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}
