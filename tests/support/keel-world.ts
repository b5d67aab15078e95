/** A throwaway project in a real git repository, seen through a keel project that can be opened afresh. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { KeelDeps } from '../../src/keel/deps.ts'
import { createKeelProject } from '../../src/keel/project.ts'
import type { BoundaryOptions, BoundaryResult, Edge, JournalRecord, KeelProject, Refreshed } from '../../src/keel/types.ts'
import { openProject } from '../../src/node/open.ts'
import type { Project } from '../../src/runtime/project.ts'
import { temporaryFolder } from './temporary.ts'

export interface KeelWorld {
  /** Absolute. */
  readonly root: string
  write(path: string, text: string | Uint8Array): void
  read(path: string): string
  has(path: string): boolean
  edit(path: string, from: string, to: string): void
  remove(path: string): void
  git(...args: string[]): string
  commit(): void
  /** A process's first look: nothing but the disk is shared with earlier ones. `deps` are laid over the real ones. */
  open(deps?: Partial<KeelDeps>): Promise<KeelProject>
  /** A full refresh of a fresh project. */
  check(): Promise<Refreshed>
  stamp(options?: Partial<BoundaryOptions>): Promise<BoundaryResult>
  /** Edges of a fresh look as `child <- ref[#anchor]: state or reason`. */
  states(): Promise<readonly string[]>
  journal(): Promise<readonly JournalRecord[]>
  forgetCache(): void
}

export function keelWorld(files: Readonly<Record<string, string | Uint8Array>> = {}, options: { git?: boolean } = {}): KeelWorld {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(root)
  mkdirSync(home)
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
  }
  const opened: Project[] = []
  onTestFinished(async () => {
    for (const project of opened) await project.close()
  })
  const at = (path: string) => join(root, path)
  const world: KeelWorld = {
    root,
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), text)
    },
    read: path => readFileSync(at(path), 'utf8'),
    has: path => existsSync(at(path)),
    edit(path, from, to) {
      const text = readFileSync(at(path), 'utf8')
      if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
      writeFileSync(
        at(path),
        text.replace(from, () => to),
      )
    },
    remove: path => rmSync(at(path), { recursive: true }),
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'init.defaultBranch=main', ...args], {
        cwd: root,
        env: { ...env, GIT_CONFIG_NOSYSTEM: '1' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    commit() {
      world.git('add', '-A')
      world.git('commit', '-qm', 'change', '--allow-empty')
    },
    async open(deps = {}) {
      const project = await openProject({ cwd: root, project: root, env, door: 'cli' })
      opened.push(project)
      // Laid over, not copied: some of the real ones are asked for anew each time.
      return createKeelProject(Object.create(project.keelDeps(), Object.getOwnPropertyDescriptors(deps)) as KeelDeps)
    },
    async check() {
      return (await world.open()).refresh({ kind: 'full' })
    },
    async stamp(given = {}) {
      const keel = await world.open()
      await keel.refresh({ kind: 'full' })
      return keel.boundary({ onBusy: 'refuse', who: { kind: 'person' }, byAgent: false, ...given })
    },
    async states() {
      return (await world.check()).edges.map(stateLine)
    },
    async journal() {
      return (await world.open()).journal().records
    },
    forgetCache() {
      rmSync(join(home, 'cache'), { recursive: true, force: true })
      rmSync(at('.outrigger/state/keel/cache.bin'), { force: true })
    },
  }
  for (const [path, text] of Object.entries(files)) world.write(path, text)
  if (options.git !== false) world.git('init', '-q')
  return world
}

export function stateLine(edge: Edge): string {
  const source = edge.anchor === null ? edge.ref : `${edge.ref}#${edge.anchor}`
  return `${edge.child} <- ${source}: ${edge.reason ?? edge.state}`
}
