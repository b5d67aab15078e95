/** A throwaway git repository, its configuration and home its own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './temporary.ts'

export interface Repository {
  readonly root: string
  /** Environment in which git finds no settings of this machine. */
  readonly env: Readonly<Record<string, string>>
  git(...args: readonly string[]): string
  write(path: string, content: string | Uint8Array): void
  /** Stages all and commits; answers the commit. */
  commit(subject: string): string
}

export function repository(...initArgs: readonly string[]): Repository {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(root)
  mkdirSync(home)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    LC_ALL: 'C',
  }
  writeFileSync(join(home, 'gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n')
  const dated = { ...env, GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z', GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z' }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env: dated, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()
  git('init', '-q', ...initArgs)
  return {
    root,
    env,
    git,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    commit(subject) {
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', subject)
      return git('rev-parse', 'HEAD')
    },
  }
}
