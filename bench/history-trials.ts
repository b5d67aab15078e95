/**
 * Trials from the history of a repository: commits that changed a source together with a test or a document, one of which
 * is hidden. Whether the hidden one is the source's own is told by names and import lines at the commit, read here with none
 * of what companion weighs.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { bareStem, classOf, codeLanguage, isGeneric, stemOf } from '../src/companion/kinds.ts'
import { baseName, folderOf } from '../src/text/paths.ts'

/** A commit that touches more says nothing about a pair. */
const maxFiles = 30

export type Git = (...words: readonly string[]) => string

export interface Trial {
  readonly commit: string
  readonly parent: string
  readonly hidden: string
  readonly kind: 'test' | 'doc'
  /** The commit made it: only a file that is missing could be named. */
  readonly isNew: boolean
  /** It has the name of a source of the rest, imports one or names one; otherwise they merely stand in one commit. */
  readonly isTied: boolean
  readonly rest: readonly string[]
}

/** git in a folder, with no settings of a person, no hooks, no filters and no network. */
export function gitIn(root: string, home: string): Git {
  const settings = ['core.hooksPath=/dev/null', 'advice.detachedHead=false', 'filter.lfs.smudge=', 'filter.lfs.required=false']
  const env = { ...process.env, HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_NO_LAZY_FETCH: '1', GIT_LFS_SKIP_SMUDGE: '1' }
  return (...words) =>
    execFileSync('git', [...settings.flatMap(each => ['-c', each]), ...words], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 30,
    })
}

/** At most `most`, the newest first. */
export function trialsOf(git: Git, most: number): readonly Trial[] {
  // Many more commits are listed than tried: most say nothing.
  const words = ['--no-merges', '--no-renames', '--name-status', '-z', `--max-count=${most * 20}`, '--format=%x01%H %P']
  const trials: Trial[] = []
  for (const part of git('log', ...words)
    .split('\u0001')
    .slice(1)) {
    if (trials.length >= most) break
    const trial = trialOf(git, part)
    if (trial !== null) trials.push(trial)
  }
  return trials
}

function trialOf(git: Git, part: string): Trial | null {
  const fields = part.split('\0').map(field => field.replace(/^\n/, ''))
  const [commit, parent] = fields[0]!.trim().split(' ')
  if (parent === undefined) return null
  const rows: { status: string; path: string }[] = []
  for (let at = 1; at + 1 < fields.length; at += 2)
    if (fields[at] !== '') rows.push({ status: fields[at]!, path: fields[at + 1]! })
  // A name that is no UTF-8 cannot be given back to git.
  if (rows.length < 2 || rows.length > maxFiles || rows.some(({ path }) => path.includes('\ufffd'))) return null
  const kept = rows.filter(({ status }) => status === 'M' || status === 'A')
  const sources = kept.map(({ path }) => path).filter(path => classOf(path) === 'source')
  if (sources.length === 0) return null

  // No name is favoured: among several, the commit's own number decides.
  const draw = (path: string) => createHash('sha256').update(`${commit} ${path}`).digest('hex')
  const possible = kept
    .filter(({ path }) => classOf(path) === 'test' || classOf(path) === 'doc')
    .map(row => ({ ...row, isTied: isTied(git, commit!, row.path, sources), draw: draw(row.path) }))
    .sort((a, b) => Number(b.isTied) - Number(a.isTied) || (a.draw < b.draw ? -1 : 1))
  const hidden = possible[0]
  if (hidden === undefined) return null
  return {
    commit: commit!,
    parent,
    hidden: hidden.path,
    kind: classOf(hidden.path) === 'test' ? 'test' : 'doc',
    isNew: hidden.status === 'A',
    isTied: hidden.isTied,
    rest: kept.flatMap(({ path }) => (path === hidden.path ? [] : [path])).sort(),
  }
}

function isTied(git: Git, commit: string, path: string, sources: readonly string[]): boolean {
  let text = ''
  try {
    text = git('show', `${commit}:${path}`)
  } catch {
    // A submodule or a link has no text; its name may do.
  }
  const isTest = classOf(path) === 'test'
  return sources.some(source => (isTest ? isTestOf(path, text, source) : isDocumentOf(text, source)))
}

/** Entry files go by the name of their folder. */
function nameOf(source: string): string {
  const stem = stemOf(source)
  return ['index', 'mod', '__init__'].includes(stem) ? baseName(folderOf(source)) : stem
}

function isTestOf(test: string, text: string, source: string): boolean {
  const language = codeLanguage(test)
  const name = nameOf(source)
  if (language !== codeLanguage(source) || name === '') return false
  if (bareStem(test) === name || bareStem(test) === stemOf(source))
    return !isGeneric(name) || folderOf(test).includes(folderOf(source))
  if (isGeneric(name)) return false
  // A class of Java is used without an import by those of its package.
  if (language === 'java') return wordOf(name).test(text)
  const lines = text.split('\n').filter(line => /\b(?:import|from|require|use|mod)\b/.test(line))
  // In a script only what stands for a module counts: the last part of a path in quotes.
  const last = new RegExp(`[/'"\`]${escaped(name)}(?:\\.\\w+|/index(?:\\.\\w+)?)?['"\`]`)
  return lines.some(line => (language === 'js' ? last : wordOf(name)).test(line))
}

function isDocumentOf(text: string, source: string): boolean {
  if (text.includes(source) || wordOf(baseName(source)).test(text)) return true
  const name = nameOf(source)
  if (name.length < 4 || isGeneric(name)) return false
  const holds = wordOf(name)
  return (text.match(/`[^`\n]+`/g) ?? []).some(span => holds.test(span))
}

function wordOf(word: string): RegExp {
  return new RegExp(`(?<![\\w-])${escaped(word)}(?![\\w-])`)
}

const escaped = (word: string) => word.replace(/[^\w]/g, '\\$&')
