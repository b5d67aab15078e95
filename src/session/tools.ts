/**
 * Which tools read, write and run a shell, under one name each, whatever the host calls them. An unknown
 * tool may write. What a call read or wrote is taken from its input when the host does not say.
 */

/** Hosts' names that differ from ours. */
const canonicalNames: Readonly<Record<string, string>> = record({
  Bash: 'bash',
  Read: 'read',
  Grep: 'grep',
  Glob: 'glob',
  Edit: 'edit',
  Write: 'write',
  MultiEdit: 'multi_edit',
  NotebookEdit: 'notebook_edit',
})

/** Tools of ours, known under their bare names whatever server prefix a host puts before them. */
const ownTools: ReadonlySet<string> = new Set([
  'keel_check',
  'keel_why',
  'keel_ok',
  'keel_fix',
  'pack_save',
  'pack_load',
  'pack_show',
  'run_code',
  'edit_run_code',
  'repl_state',
  'repl_history',
  'companions_for',
  'claims_check',
  'next_suggest',
])

/** Of ours, those that may write; the others only read. */
const ownWriters: ReadonlySet<string> = new Set(['run_code', 'edit_run_code', 'keel_ok', 'keel_fix', 'pack_save'])

const shells: ReadonlySet<string> = new Set(['bash', 'pwsh'])
const readers: ReadonlySet<string> = new Set(['read', 'read_image'])
const writers: ReadonlySet<string> = new Set([
  'edit',
  'write',
  'multi_edit',
  'notebook_edit',
  'str_replace_editor',
  'apply_patch',
])

/** Tools of hosts that change no file by themselves. */
const harmless: ReadonlySet<string> = new Set(
  (
    'read read_image grep glob ls LS list_dir find web_fetch web_search WebFetch WebSearch todo_write TodoWrite ' +
    'ask_user_question AskUserQuestion ExitPlanMode EnterPlanMode NotebookRead ToolSearch BashOutput KillShell ' +
    'get_goal create_goal update_goal job_list job_output job_kill list_agents interrupt_agent'
  ).split(' '),
)

/** The fields that name a file, the first that is there counts. */
const pathFields = ['file_path', 'path', 'filePath', 'notebook_path'] as const

/** The one name of a tool: `Bash` is `bash`, `mcp__outrigger__keel_ok` is `keel_ok`. Others stay as they are. */
export function canonicalTool(name: string): string {
  const known = canonicalNames[name]
  if (known !== undefined) return known
  const bare = name.slice(Math.max(...separators.map(separator => endOf(name, separator))))
  return ownTools.has(bare) ? bare : name
}

/** What hosts put between a server's name and a tool's. */
const separators = ['__', '.', ':', '/']

function endOf(name: string, separator: string): number {
  const at = name.lastIndexOf(separator)
  return at === -1 ? 0 : at + separator.length
}

export const isShell = (tool: string): boolean => shells.has(tool)

/** May this tool (canonical name) change files? An unknown one may. */
export function mayWrite(tool: string): boolean {
  if (ownTools.has(tool)) return ownWriters.has(tool)
  return !harmless.has(tool)
}

export interface Touched {
  readonly read: readonly string[]
  readonly written: readonly string[]
}

const nothing: Touched = { read: [], written: [] }

/** Files that a call names, as its input spells them. Only for tools whose inputs are known. */
export function touchedBy(tool: string, input: unknown): Touched {
  if (tool === 'apply_patch') return { read: [], written: patchFiles(input) }
  if (!readers.has(tool) && !writers.has(tool)) return nothing
  const path = pathOf(input)
  if (path === undefined) return nothing
  if (readers.has(tool) || isView(tool, input)) return { read: [path], written: [] }
  return { read: [], written: [path] }
}

/** `str_replace_editor` looks at a file with `command: view`. */
const isView = (tool: string, input: unknown) => tool === 'str_replace_editor' && isRecord(input) && input['command'] === 'view'

function pathOf(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined
  for (const field of pathFields) {
    const value = input[field]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

const patchHeader = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t]*$/

/** The files that the headers of a patch name, in order, each once. The patch is the input or its first string field. */
function patchFiles(input: unknown): readonly string[] {
  const files = new Set<string>()
  for (const line of patchText(input).split(/\r?\n/)) {
    const file = patchHeader.exec(line)?.[1]
    if (file !== undefined) files.add(file)
  }
  return [...files]
}

function patchText(input: unknown): string {
  if (typeof input === 'string') return input
  if (!isRecord(input)) return ''
  for (const field of ['input', 'patch', 'patch_text', 'patchText']) {
    const value = input[field]
    if (typeof value === 'string') return value
  }
  return ''
}

/**
 * The exit code of a shell call from what it printed: a final line `[exit code: N]`, else a leading
 * `Exit code N` or `Error: Exit code N`, else 0 when it went well, else unknown (`null`).
 */
export function shellExit(output: string, ok: boolean): number | null {
  const final = /(?:^|\n)\[exit code: (-?\d{1,10})\]\s*$/.exec(output.slice(-64))
  if (final !== null) return Number(final[1])
  const leading = /^\s{0,8}(?:Error: )?Exit code (-?\d{1,10})(?!\d)/.exec(output.slice(0, 64))
  if (leading !== null) return Number(leading[1])
  return ok ? 0 : null
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without a prototype: a tool named `constructor` is a tool. */
function record<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries)
}
