/** Signals that the words of one call give, and the fixed files that an intent names for them. */
import type { ToolFinished } from '../../session/events.ts'
import { isShell } from '../../session/tools.ts'
import { baseName, relativeTo, resolvePath } from '../../text/paths.ts'
import { isLiteral } from '../config.ts'
import type { CompanionDeps } from '../deps.ts'
import { type Call, field } from '../judge/call.ts'
import { isExcluded, isPrintable } from '../names.ts'
import { projectPath } from '../paths.ts'
import type { Companion } from '../project.ts'
import { type CallSignal, type CompanionConfig, callSignals, type Intent } from '../types.ts'
import { absolute, foldersIn, isKind, type Workspace } from './workspace.ts'

export interface TargetsFound {
  /** Signals of the intent that fired, in the order of the vocabulary. */
  readonly fired: readonly CallSignal[]
  /** @returns what is listed, and whether any of it stands for a companion. */
  targets(): { readonly targets: readonly string[]; readonly counts: boolean }
}

const testWords: ReadonlySet<string> = new Set('test tests smoke smokes spec specs suite suites'.split(' '))
const counted = /(?<![\w.,])\d[\d,]*[ \t\u00a0]+(?:PASS|assertions|checks|tests|smokes)(?!\w)/
const outputPart = 4 * 1024
const sources = /\.(?:[mc]?[jt]s|[jt]sx|vue|svelte|py|go|rs|java|kt)$/
const content = 'Site/Source/Library/Content.ts'

export function judgeTargets(
  companion: Companion,
  config: CompanionConfig,
  workspace: Workspace,
  intent: Intent,
  event: ToolFinished,
  call: Call,
): TargetsFound {
  const { deps } = companion
  const words = wordsOf(deps, event, call)
  const suites = suitesIn(deps, workspace, words, call)
  const wanted = new Set(intent.signals.map(({ id }) => id))
  const fires: Readonly<Record<CallSignal, () => boolean>> = {
    'test-shape': () => words.all.some(hasTestWord),
    'path-shape': () => suites.isPath,
    'loop-shape': () => isLoop(call, words.text) || suites.isOpen || suites.named.size > 1,
    'count-shape': () => isCount(event, call, words.text),
    'doc-shape': () => words.all.some(isDocument),
  }
  return {
    fired: callSignals.filter(
      signal => wanted.has(signal) && (config.evidence.length === 0 || config.evidence.includes(signal)) && fires[signal](),
    ),
    targets: () => targetsOf(deps, config, workspace, intent, suites, event, call),
  }
}

interface Words {
  readonly text: string
  readonly all: readonly string[]
}

function wordsOf(deps: CompanionDeps, event: ToolFinished, call: Call): Words {
  const given =
    call.command === null
      ? [
          field(event.input, 'pattern'),
          field(event.input, 'file_path', 'path', 'filePath'),
          field(event.input, 'glob', 'include'),
        ]
      : [call.command]
  const touched = [...call.read, ...call.written]
  const own = given.flatMap(each => each ?? [])
  const local = own.map(each => relativeTo(deps.root, each) ?? each)
  const text = [...new Set([...local, ...touched])].join(' ').slice(0, 64 * 1024)
  return { text, all: text.split(/[\s;|&<>()"'`=]+/).filter(word => word !== '') }
}

function hasTestWord(word: string): boolean {
  return word
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .some(token => testWords.has(token.toLowerCase()))
}

const isDocument = (word: string): boolean => {
  const name = baseName(word)
  return (
    word.endsWith('.md') ||
    name.startsWith('README') ||
    name.startsWith('SCHEME') ||
    word === content ||
    word.endsWith(`/${content}`)
  )
}

function isLoop({ tool }: Call, text: string): boolean {
  return (
    isShell(tool) &&
    (/\bfor\b[\s\S]*\bdo\b|\bwhile\b[\s\S]*\bread\b|\bxargs\b/.test(text) || /\bfind\b[\s\S]*\s-exec\b/.test(text))
  )
}

function isCount(event: ToolFinished, { tool }: Call, text: string): boolean {
  const { output } = event
  if (counted.test(text) || counted.test(output.slice(0, outputPart)) || counted.test(output.slice(-outputPart))) return true
  return isShell(tool) && /\bgrep\b[^|;&]*\s-\w*c|\bwc\b[^|;&]*\s-l/.test(text) && text.split(/\s+/).some(hasTestWord)
}

interface Suites {
  /** Some word leads into the suites. */
  readonly isPath: boolean
  /** A glob or a variable stands for a suite. */
  readonly isOpen: boolean
  readonly named: ReadonlySet<string>
}

const openSegment = /[*?[{]|\$/

function suitesIn(deps: CompanionDeps, workspace: Workspace, words: Words, call: Call): Suites {
  const folder = workspace.package === null ? null : `${workspace.package.dir}/Source/Test`
  const known = new Set(folder === null ? [] : foldersIn(deps, folder))
  const bases = [absolute(deps, call.cwd ?? ''), ...(workspace.package === null ? [] : [workspace.package.dir]), workspace.root]
  const named = new Set<string>()
  let isPath = false
  let isOpen = false
  for (const word of words.all) {
    const parts = word.replaceAll('\\', '/').replace(/^\.\//, '').split('/')
    const at = parts.findIndex((part, index) => (part === 'Source' || part === 'Target') && parts[index + 1] === 'Test')
    if (at === -1) {
      const stem = baseName(word).replace(/\.[^.]+$/, '')
      const isSource = sources.test(word) && known.has(stem) && bases.some(base => isKind(deps, resolvePath(base, word), 'file'))
      if (isSource) {
        isPath = true
        named.add(stem)
      }
      continue
    }
    const suite = parts[at + 2]
    const open = parts.findIndex(part => openSegment.test(part))
    const literal = (
      open === -1 ? parts.slice(0, suite === undefined || suite === '' ? at + 2 : at + 3) : parts.slice(0, Math.min(open, at + 3))
    ).join('/')
    const isThere = literal !== '' && bases.some(base => isKind(deps, resolvePath(base, literal), 'folder'))
    if (!isThere) continue
    isPath = true
    if (suite === undefined || suite === '') continue
    if (openSegment.test(suite)) isOpen = true
    else named.add(suite)
  }
  return { isPath, isOpen, named }
}

function targetsOf(
  deps: CompanionDeps,
  config: CompanionConfig,
  workspace: Workspace,
  intent: Intent,
  suites: Suites,
  event: ToolFinished,
  call: Call,
): { readonly targets: readonly string[]; readonly counts: boolean } {
  const isAsWritten = isLiteral(config, 'suite')
  const atHand = isLiteral(config, 'self') ? new Set<string>() : filesAtHand(deps, event, call)
  const [only] = suites.named
  const suite = !isAsWritten && !suites.isOpen && suites.named.size === 1 ? only! : null
  const targets: string[] = []
  let counts = false
  for (const template of intent.targets) {
    const target = suite === null ? template : template.replaceAll('<Suite>', () => suite)
    if (target.includes('<Suite>')) {
      targets.push(target)
      if (isAsWritten) counts = true
      continue
    }
    const found = locate(deps, workspace, target)
    if (found === null || atHand.has(found) || !isPrintable(target)) continue
    const inside = relativeTo(workspace.root, found) ?? target
    if (isExcluded(inside, config.exclude, isLiteral(config, 'exclude'))) continue
    targets.push(target)
    counts = true
  }
  return { targets, counts }
}

/** Below the package, its parent or the workspace, and not outside of the workspace. */
function locate(deps: CompanionDeps, { package: of, root }: Workspace, target: string): string | null {
  const parent = of === null ? null : of.dir.slice(0, of.dir.lastIndexOf('/'))
  const bases = [
    ...(of === null ? [] : [of.dir]),
    ...(parent === null || relativeTo(root, parent) === null ? [] : [parent]),
    root,
  ]
  const realRoot = deps.files.realpath(root) ?? root
  for (const base of bases) {
    const path = resolvePath(base, target)
    const real = isKind(deps, path, 'file') ? deps.files.realpath(path) : undefined
    if (real !== undefined && relativeTo(realRoot, real) !== null) return path
  }
  return null
}

/** What the call read, wrote or points at; paths inside a command are no such thing. */
function filesAtHand(deps: CompanionDeps, event: ToolFinished, call: Call): ReadonlySet<string> {
  const pointed = call.command === null ? field(event.input, 'file_path', 'path', 'filePath') : undefined
  const inside = pointed === undefined ? null : projectPath(deps, pointed, event.cwd ?? '')
  return new Set([...call.read, ...call.written, ...(inside === null ? [] : [inside])].map(path => absolute(deps, path)))
}
