/** companion over a real repository in this process: calls are judged as in a session, in one state. */
import { rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createJudge, type Judge, judgeEvent } from '../../src/companion/judge/judge.ts'
import { type CompanionState, noState } from '../../src/companion/judge/state.ts'
import type { Judgement } from '../../src/companion/judge/types.ts'
import type { Companion } from '../../src/companion/project.ts'
import { openProject } from '../../src/node/open.ts'
import type { Override } from '../../src/runtime/config.ts'
import { operationsOf } from '../../src/runtime/operations.ts'
import type { Project } from '../../src/runtime/project.ts'
import { completeTool } from '../../src/session/calls.ts'
import type { SessionEvent, ToolFinished } from '../../src/session/events.ts'
import type { Caller } from '../../src/session/operation.ts'
import { type Repository, repository } from './repository.ts'

export type Given = Partial<Omit<ToolFinished, 'kind' | 'tool'>> & { readonly tool: string }

export interface CompanionWorld extends Repository {
  readonly project: Project
  readonly companion: Companion
  readonly judge: Judge
  /** One call, in the state that the calls before it left. */
  call(given: Given): Judgement
  hear(event: Partial<SessionEvent> & Pick<SessionEvent, 'kind'>): Judgement
  /** `edit` of a file that is there. */
  edit(path: string, rest?: Partial<Given>): Judgement
  lines(judgement: Judgement): readonly string[]
  state(): CompanionState
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that matter
  verb(name: string, input: Readonly<Record<string, unknown>>, door?: Caller['door']): Promise<any>
  remove(path: string): void
  /** As if written a while ago. */
  age(path: string, seconds: number): void
}

export interface WorldOptions {
  readonly config?: Override['values']
  /** Commits, oldest first; each names the files it touches. Without: one with all files. */
  readonly commits?: readonly (readonly string[])[]
  readonly git?: boolean
}

/** The files are there, committed, and known. */
export async function companionWorld(
  files: Readonly<Record<string, string>>,
  options: WorldOptions = {},
): Promise<CompanionWorld> {
  const repo = repository()
  for (const [path, content] of Object.entries(files)) repo.write(path, content)
  if (options.git === false) rmSync(join(repo.root, '.git'), { recursive: true })
  else {
    repo.commit('all')
    const revisions = new Map<string, number>()
    for (const commit of options.commits ?? []) {
      for (const path of commit) {
        const n = (revisions.get(path) ?? 0) + 1
        revisions.set(path, n)
        repo.write(path, `${files[path] ?? ''}${'\n'.repeat(n)}`)
      }
      repo.commit('change')
    }
  }
  return openCompanionWorld(repo, options.config)
}

export async function openCompanionWorld(repo: Repository, config: Override['values'] = {}): Promise<CompanionWorld> {
  const overrides: readonly Override[] = [{ from: 'host', section: 'companion', values: config }]
  const project = await openProject({
    cwd: repo.root,
    project: repo.root,
    env: repo.env,
    door: 'cli',
    overrides,
    isTerminal: false,
  })
  const companion = project.companion()
  await companion.knowledge.ready()
  const judge = createJudge(companion, { reconcileMs: Number.POSITIVE_INFINITY })
  let state: CompanionState = noState
  let calls = 0
  const context = { declaredBy: () => [], toldByKeel: () => new Set<string>(), newId: () => `a${++calls}` }
  const hear = (event: SessionEvent): Judgement => {
    const judgement = judgeEvent(judge, state, event, context)
    state = judgement.state
    companion.knowledge.settle()
    return judgement
  }
  const base = { session: 's', project: project.root, at: 0 }
  const call = ({ tool, ...rest }: Given): Judgement =>
    hear(
      completeTool({
        ...base,
        kind: 'tool-finished',
        turn: null,
        call: `c${++calls}`,
        tool,
        input: {},
        ok: true,
        output: '',
        ...rest,
      }),
    )
  return {
    ...repo,
    project,
    companion,
    judge,
    call,
    hear: event => hear({ ...base, turn: 0, ...event } as SessionEvent),
    edit: (path, rest = {}) =>
      call({ tool: 'edit', input: { file_path: join(repo.root, path), old_string: 'a', new_string: 'b' }, ...rest }),
    lines: judgement => judgement.ledger.map(({ text }) => text.replace(/^[\w-]+: /, '')),
    state: () => state,
    async verb(name, input, door = 'cli') {
      const operation = operationsOf(project).find(each => each.name === `companion.${name}`)!
      const caller: Caller = {
        door,
        actor: { kind: 'agent', basis: 'host' },
        signal: new AbortController().signal,
        progress() {},
      }
      return operation.run(operation.decode(input), caller)
    },
    remove: path => rmSync(join(repo.root, path), { recursive: true }),
    age(path, seconds) {
      const { atimeMs, mtimeMs } = statSync(join(repo.root, path))
      utimesSync(join(repo.root, path), atimeMs / 1_000, mtimeMs / 1_000 - seconds)
    },
  }
}

/** The layout of the playform profile: one package with the suite Core. */
export const playform: Readonly<Record<string, string>> = {
  'Documentation/ARCHIVE-STYLE.md': '# Style\n',
  'package.json': '{"name":"hook-x"}\n',
  'README.md': '# hook-x\n',
  'SCHEME.md': '# Scheme\n',
  'Maintain/Run-Smokes.mjs': '\n',
  'Source/Test/Core/README.md': '# Core\n\n## Expected count\n\n34 PASS\n',
  'Source/Test/Core/Test.ts': '\n',
  'Target/Test/Core/Test.js': '\n',
}

export const edge = {
  'Source/Test/Edge/README.md': '## Expected count\n\n6 PASS\n',
  'Source/Test/Edge/Test.ts': '\n',
  'Target/Test/Edge/Test.js': '\n',
} as const
