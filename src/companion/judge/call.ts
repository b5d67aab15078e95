/** One finished call as companion looks at it: its words, its folder, the files it touched. */
import type { ToolFinished } from '../../session/events.ts'
import { isShell } from '../../session/tools.ts'
import type { CompanionDeps } from '../deps.ts'
import { isJudgedPath, projectPath } from '../paths.ts'

export interface Call {
  readonly tool: string
  /** Of a shell. */
  readonly command: string | null
  /** Where it ran, absolute or relative to the project; `undefined`: the project. */
  readonly cwd: string | undefined
  /** Project files that it wrote. */
  readonly written: readonly string[]
  readonly read: readonly string[]
}

const runners: ReadonlySet<string> = new Set(['bash', 'pwsh', 'run_code'])
const telling = /^(?:companions_for|claims_check|keel_.+|pack_.+|next_.+)$/

/** May its output hold a run of tests? */
export const runsCode = (tool: string): boolean => runners.has(tool)

/** A tool of ours that tells about files: its calls are nobody's work. */
export const isOwnTool = (tool: string): boolean =>
  telling.test(tool.startsWith('mcp__') ? (tool.split('__').at(-1) ?? tool) : tool)

export function callOf(deps: CompanionDeps, event: ToolFinished): Call {
  const command = isShell(event.tool) ? (field(event.input, 'command', 'cmd', 'script') ?? '') : null
  const given = field(event.input, 'cwd', 'workdir')
  const cd = command === null ? undefined : leadingFolder(command)
  const base = given === undefined ? event.cwd : joinFolder(event.cwd, given)
  const cwd = cd === undefined ? base : joinFolder(base, cd)
  const inside = (paths: readonly string[] | undefined) => [
    ...new Set((paths ?? []).flatMap(path => projectPath(deps, path, event.cwd ?? '') ?? []).filter(isJudgedPath)),
  ]
  return { tool: event.tool, command, cwd, written: inside(ofProject(event.written)), read: inside(ofProject(event.read)) }
}

/** Paths of events are relative to the project already: a folder does not move them. */
function ofProject(paths: readonly string[] | undefined): readonly string[] | undefined {
  return paths
}

/** `cd X && …` */
export function leadingFolder(command: string): string | undefined {
  const match = /^\s*cd\s+(?:"([^"]+)"|'([^']+)'|((?:\\.|[^\s;&|"'\\])+))\s*(?:&&|;)/.exec(command)
  return match?.[1] ?? match?.[2] ?? match?.[3]?.replace(/\\(.)/g, '$1')
}

function joinFolder(base: string | undefined, folder: string): string {
  if (folder.startsWith('/') || /^[A-Za-z]:[\\/]/.test(folder) || base === undefined || base === '') return folder
  return `${base.replace(/\/+$/, '')}/${folder}`
}

export function field(input: unknown, ...names: readonly string[]): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  for (const name of names) {
    const value = (input as Record<string, unknown>)[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

const oldTexts = ['old_string', 'oldString', 'old_str', 'new_string', 'newString', 'new_str'] as const

/** What an edit took away and put in; `null` for a file that was written whole, and for what cannot be told. */
export function changedText(input: unknown): string | null {
  if (typeof input === 'string') return input.includes('*** ') ? input : null
  if (typeof input !== 'object' || input === null) return null
  const record = input as Record<string, unknown>
  const parts: string[] = []
  const take = (from: Record<string, unknown>) => {
    for (const key of oldTexts) if (typeof from[key] === 'string') parts.push(from[key])
  }
  take(record)
  if (Array.isArray(record['edits'])) {
    for (const edit of record['edits'] as unknown[])
      if (typeof edit === 'object' && edit !== null) take(edit as Record<string, unknown>)
  }
  for (const key of ['patch', 'patch_text', 'patchText', 'diff']) if (typeof record[key] === 'string') parts.push(record[key])
  const given = record['input']
  if (typeof given === 'string' && given.includes('*** ')) parts.push(given)
  return parts.length === 0 ? null : parts.join('\n')
}
