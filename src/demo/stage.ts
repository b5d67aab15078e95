/** Where a demonstration plays: throwaway folders, the real host with our bundle installed, a repository. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { addPlugin, findHost, hostEnvironment, packageRoot, packPackage, runProgram } from './host.ts'
import type { Narrator } from './narrate.ts'

export interface Stage {
  readonly narrator: Narrator
  /** Program of the host's launcher. */
  readonly host: string
  /** A DSH home of its own, our bundle installed in its headless profile. */
  newHome(): string
  /** A git repository with these files committed; by path. */
  newRepository(files: Readonly<Record<string, string>>): Promise<Repository>
  /** Removes every folder that was made. */
  clear(): void
}

export interface Repository {
  readonly root: string
  read(path: string): string
  /** Output of a git command. */
  git(...args: readonly string[]): Promise<string>
  /** Output of the command `outrigger` in the repository. */
  outrigger(...args: readonly string[]): Promise<string>
}

/** About five seconds: pack the package and add it to a profile, as a person would. */
export async function setStage(narrator: Narrator): Promise<Stage> {
  const host = findHost()
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-demo-'))
  const clear = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  let made = 0
  try {
    const tarball = await packPackage(packageRoot(), join(folder, 'packs'))
    const installed = join(folder, 'installed')
    for (const profile of ['headless', 'web']) await addPlugin(host, installed, profile, tarball)
    return {
      narrator,
      host,
      clear,
      newHome: () => {
        const home = join(folder, `dsh-home-${++made}`)
        cpSync(installed, home, { recursive: true, verbatimSymlinks: true })
        return home
      },
      newRepository: files => createRepository(join(folder, `project-${++made}`), join(folder, 'person'), files),
    }
  } catch (error) {
    clear()
    throw error
  }
}

/** A git repository in `root` with these files committed; what runs in it has the person's home `personHome`. */
export async function createRepository(
  root: string,
  personHome: string,
  files: Readonly<Record<string, string>>,
): Promise<Repository> {
  mkdirSync(root, { recursive: true })
  const repository = openRepository(root, personHome)
  await repository.git('init', '-q', '-b', 'main')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  await repository.git('add', '.')
  await repository.git('commit', '-qm', 'Begin')
  return repository
}

/** A repository that is there already. */
export function openRepository(root: string, personHome: string): Repository {
  const env = hostEnvironment(personHome, 'http://127.0.0.1:9')
  const identity = ['-c', 'user.name=Demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false']
  const program = join(packageRoot(), 'dist', 'cli', 'main.js')
  return {
    root,
    read: path => readFileSync(join(root, path), 'utf8'),
    git: async (...args) => (await runProgram('git', [...identity, ...args], { cwd: root, env })).stdout,
    outrigger: async (...args) => (await runProgram(process.execPath, [program, ...args], { cwd: root, env })).stdout,
  }
}
