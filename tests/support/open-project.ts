/** A project of the real machine with a home of its own, closed when the test is over. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type OpenOptions, openProject } from '../../src/node/open.ts'
import type { Project } from '../../src/runtime/project.ts'
import type { Caller } from '../../src/session/operation.ts'
import { temporaryFolder } from './temporary.ts'

export interface TestProject {
  readonly project: Project
  readonly root: string
  readonly home: string
  /** Opens it once more, as another command would. */
  again(more?: Partial<OpenOptions>): Promise<Project>
}

/** @param prepare - puts files into the project before it is opened. */
export async function testProject(
  prepare: (root: string) => void = () => {},
  more: Partial<OpenOptions> = {},
): Promise<TestProject> {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(home)
  prepare(root)
  const env = { PATH: process.env['PATH'], HOME: home, OUTRIGGER_NOW: '2026-01-02T03:04:05.000Z', OUTRIGGER_SEED: '1' }
  const again = async (options: Partial<OpenOptions> = {}): Promise<Project> => {
    const project = await openProject({ cwd: root, env, door: 'cli', isTerminal: false, ...more, ...options })
    onTestFinished(() => project.close())
    return project
  }
  return { project: await again(), root, home, again }
}

export function testCaller(more: Partial<Caller> = {}): Caller {
  return {
    door: 'cli',
    actor: { kind: 'person', basis: 'stated' },
    signal: new AbortController().signal,
    progress: () => {},
    ...more,
  }
}
