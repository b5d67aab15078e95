/** What a file is, by its path alone. */
import { baseName, extensionOf, segments } from '../text/paths.ts'
import type { FileClass } from './types.ts'

export type Language = 'js' | 'python' | 'go' | 'rust' | 'java'

const locks: ReadonlySet<string> = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'poetry.lock',
  'Pipfile.lock',
  'uv.lock',
  'pdm.lock',
  'Cargo.lock',
  'go.sum',
  'Gemfile.lock',
  'composer.lock',
  'gradle.lockfile',
  'mix.lock',
  'flake.lock',
  'packages.lock.json',
  'Podfile.lock',
])
const generatedFolders: ReadonlySet<string> = new Set(['generated', '__generated__', '__snapshots__'])
const generatedName = /\.(?:min\.js|min\.css|map|snap|pb\.go)$|_pb2\.py$/
const changelogName = /^(?:changelog|changes|history|news)(?:\.(?:md|rst|txt|adoc))?$/i
const documents: ReadonlySet<string> = new Set(['.md', '.mdx', '.rst', '.adoc'])
const languages: Readonly<Record<string, Language>> = {
  '.ts': 'js',
  '.tsx': 'js',
  '.mts': 'js',
  '.cts': 'js',
  '.js': 'js',
  '.jsx': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.vue': 'js',
  '.svelte': 'js',
  '.py': 'python',
  '.go': 'go',
  '.rs': 'rust',
  '.java': 'java',
  '.kt': 'java',
}
const configs: ReadonlySet<string> = new Set(['.json', '.jsonc', '.yaml', '.yml', '.toml', '.ini', '.cfg', '.xml', '.gradle'])
const configNames: ReadonlySet<string> = new Set(['Dockerfile', 'Makefile'])

/** Folders of tests, and those below them that help tests. */
const testFolders: ReadonlySet<string> = new Set(['__tests__', 'test', 'tests', 'spec', 'specs', 'e2e'])
const supportFolders: ReadonlySet<string> = new Set(
  'fixtures __fixtures__ helpers support mocks __mocks__ utils util data setup'.split(' '),
)

/** @returns `null` for files that are no code. */
export function codeLanguage(path: string): Language | null {
  const extension = extensionOf(path)
  return Object.hasOwn(languages, extension) ? languages[extension]! : null
}

/** Name without its last extension. */
export function stemOf(path: string): string {
  const name = baseName(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}

export function classOf(path: string): FileClass {
  const name = baseName(path)
  if (locks.has(name)) return 'lock'
  const folders = segments(path).slice(0, -1)
  if (folders.some(folder => generatedFolders.has(folder)) || generatedName.test(name)) return 'generated'
  if (changelogName.test(name)) return 'changelog'
  const extension = extensionOf(path)
  if (documents.has(extension)) return 'doc'
  const language = codeLanguage(path)
  if (language !== null) return testClass(path, language, folders) ?? 'source'
  return configs.has(extension) || configNames.has(name) ? 'config' : 'other'
}

function testClass(path: string, language: Language, folders: readonly string[]): 'test' | 'support' | null {
  const stem = stemOf(path)
  switch (language) {
    case 'js': {
      if (/(?:[._-](?:test|spec))$/.test(stem) || stem.startsWith('test-')) return 'test'
      if (!folders.some(folder => testFolders.has(folder))) return null
      return folders.some(folder => supportFolders.has(folder)) ? 'support' : 'test'
    }
    case 'python':
      if (/^test_|_test$/.test(stem)) return 'test'
      return folders.includes('test') || folders.includes('tests') ? 'support' : null
    case 'go':
      return stem.endsWith('_test') ? 'test' : null
    case 'rust':
      return folders.includes('tests') || /^tests?$|_tests?$/.test(stem) ? 'test' : null
    case 'java':
      if (`/${folders.join('/')}/`.includes('/src/test/')) return 'test'
      return /^Test[A-Z]|(?:Test|Tests|IT|Spec)$/.test(stem) ? 'test' : null
    default:
      return language satisfies never
  }
}

/** Stem of a test without what makes it one. */
export function bareStem(path: string): string {
  const stem = stemOf(path)
  switch (codeLanguage(path)) {
    case 'js':
      return stem.replace(/[._-](?:test|spec)$/, '').replace(/^test-/, '')
    case 'python':
      return stem.replace(/_test$/, '').replace(/^test_/, '')
    case 'go':
      return stem.replace(/_test$/, '')
    case 'rust':
      return stem.replace(/_tests?$/, '')
    case 'java':
      return stem.replace(/(?:Tests?|IT|Spec)$/, '').replace(/^Test(?=[A-Z])/, '')
    default:
      return stem
  }
}

const generic: ReadonlySet<string> = new Set(
  'index main mod lib init util utils helper helpers type types common constants config app shared'.split(' '),
)

export const isGeneric = (stem: string): boolean => generic.has(stem)
