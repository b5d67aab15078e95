import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeGit } from '../../src/node/git.ts'
import type { Git } from '../../src/ports/git.ts'
import { type Repository, repository } from '../support/repository.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** Every call of the port once. */
async function askAll(git: Git, root: string, commit: string, path: string): Promise<void> {
  await git.unavailable(root)
  await git.objectFormat(root)
  await git.indexEntries(root)
  await git.modified(root)
  await git.untracked(root)
  await git.resolve(root, 'HEAD')
  await git.mergeBase(root, 'HEAD')
  await git.changedSince(root, commit)
  await git.show(root, commit, path)
  await git.blob(root, '0123456789ab')
  await git.history(root, path, 10)
  await git.renames(root, 10)
  await git.userName(root)
  await git.head(root)
}

/** A program that leaves a mark when somebody runs it. */
function trap(folder: string, name: string): { readonly path: string; wasRun(): boolean } {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\ntouch '${path}.ran'\ncat 2>/dev/null\n`)
  chmodSync(path, 0o755)
  return { path, wasRun: () => existsSync(`${path}.ran`) }
}

/** Puts a signature into the newest commit; whether it is a good one is what a program would be asked. */
function signCommit(repo: Repository): void {
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n'
  const text = `${repo.git('cat-file', 'commit', 'HEAD').replace(/\n\n/, `\n${signature}\n`)}\n`
  writeFileSync(join(repo.root, '.git/signed'), text)
  const commit = repo.git('hash-object', '-t', 'commit', '-w', '.git/signed')
  repo.git('update-ref', 'HEAD', commit)
}

describe('a repository that wants programs to be run', () => {
  const programs: readonly (readonly [string, (repo: Repository, program: string) => void])[] = [
    ['a file system monitor', (repo, program) => repo.git('config', 'core.fsmonitor', program)],
    ['an external diff', (repo, program) => repo.git('config', 'diff.external', program)],
    ['a pager', (repo, program) => ['core.pager', 'pager.log', 'pager.diff'].map(key => repo.git('config', key, program))],
    [
      'a diff driver',
      (repo, program) => {
        repo.write('.gitattributes', '* diff=mine\n')
        repo.git('config', 'diff.mine.command', program)
        repo.git('config', 'diff.mine.textconv', program)
      },
    ],
    [
      'a filter',
      (repo, program) => {
        repo.write('.gitattributes', '*.md filter=mine\n')
        repo.git('config', 'filter.mine.clean', program)
        repo.git('config', 'filter.mine.smudge', program)
      },
    ],
    [
      'a filter process that is required',
      (repo, program) => {
        repo.write('.gitattributes', '*.md filter=mine\n')
        repo.git('config', 'filter.mine.process', program)
        repo.git('config', 'filter.mine.required', 'true')
      },
    ],
    [
      'signatures shown',
      (repo, program) => {
        repo.git('config', 'log.showSignature', 'true')
        repo.git('config', 'gpg.program', program)
        signCommit(repo)
      },
    ],
    ['an alias over a verb', (repo, program) => repo.git('config', 'alias.log', `!${program}`)],
    [
      'hooks',
      (repo, program) => {
        const hooks = join(repo.root, '.git/hooks')
        mkdirSync(hooks, { recursive: true })
        for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'post-checkout', 'pre-auto-gc']) {
          writeFileSync(join(hooks, hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 })
        }
        repo.git('config', 'core.hooksPath', hooks)
      },
    ],
  ]

  it.each(programs)('of %s gets none', async (_what, arrange) => {
    const repo = repository()
    const folder = temporaryFolder()
    const program = trap(folder, 'program')
    repo.write('a.md', 'one\n'.repeat(10))
    const commit = repo.commit('first')
    repo.git('mv', 'a.md', 'b.md')
    // From the future, and the same after the edit: git has to compare the content, not only the times.
    const later = new Date('2060-01-01T00:00:00Z')
    repo.git('config', 'core.trustctime', 'false')
    repo.git('config', 'core.checkStat', 'minimal')
    utimesSync(join(repo.root, 'b.md'), later, later)
    repo.commit('moved')
    writeFileSync(join(repo.root, 'b.md'), 'two\n'.repeat(10))
    utimesSync(join(repo.root, 'b.md'), later, later)
    repo.write('new.md', 'new\n')
    arrange(repo, program.path)
    const git = nodeGit(repo.env)
    await askAll(git, repo.root, commit, 'b.md')
    expect(program.wasRun()).toBe(false)
    expect(await git.modified(repo.root)).toContain('b.md')
    expect(await git.changedSince(repo.root, commit)).toEqual(expect.arrayContaining(['a.md', 'b.md', 'new.md']))
    expect(new TextDecoder().decode(await git.show(repo.root, commit, 'a.md'))).toBe('one\n'.repeat(10))
  })
})

it('takes no lock and writes nothing, also while another git holds the lock', async () => {
  const repo = repository()
  repo.write('a', '1')
  const commit = repo.commit('first')
  repo.write('a', '1')
  writeFileSync(join(repo.root, '.git/index.lock'), '')
  const index = readFileSync(join(repo.root, '.git/index'))
  const before = readdirSync(join(repo.root, '.git')).sort()
  await askAll(nodeGit(repo.env), repo.root, commit, 'a')
  expect(readFileSync(join(repo.root, '.git/index')).equals(index)).toBe(true)
  expect(readdirSync(join(repo.root, '.git')).sort()).toEqual(before)
})

it('answers with a reason when git is not installed', async () => {
  const repo = repository()
  const git = nodeGit({ ...repo.env, PATH: temporaryFolder() })
  expect(await git.unavailable(repo.root)).toBe('not installed')
  expect(await git.indexEntries(repo.root)).toBeUndefined()
  expect(await git.head(repo.root)).toBeUndefined()
})

it('answers with a reason where there is no work tree', async () => {
  const repo = repository('--bare')
  expect(await nodeGit(repo.env).unavailable(repo.root)).toBe('no work tree')
})

it("looks at the folder it is asked about, not at the one that a hook's environment names", async () => {
  const repo = repository()
  repo.write('mine', '1')
  repo.commit('first')
  const other = repository()
  other.write('other', '1')
  other.commit('other')
  const env = {
    ...repo.env,
    GIT_DIR: join(other.root, '.git'),
    GIT_WORK_TREE: other.root,
    GIT_INDEX_FILE: join(other.root, '.git/index'),
    GIT_EXTERNAL_DIFF: '/bin/false',
    GIT_CONFIG_PARAMETERS: "'core.bare=true'",
  }
  expect((await nodeGit(env).indexEntries(repo.root))?.map(entry => entry.path)).toEqual(['mine'])
})

it('keeps settings that come in the environment', async () => {
  const repo = repository()
  const env = { ...repo.env, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Grace' }
  expect(await nodeGit(env).userName(repo.root)).toBe('Grace')
})

it('works in a shallow clone and in a linked work tree', async () => {
  const repo = repository()
  repo.write('a', '1')
  repo.commit('first')
  repo.write('a', '2')
  const second = repo.commit('second')
  const folder = temporaryFolder()
  repo.git('clone', '-q', '--depth', '1', `file://${repo.root}`, join(folder, 'shallow'))
  repo.git('worktree', 'add', '-q', join(folder, 'tree'))
  const git = nodeGit(repo.env)
  for (const root of [join(folder, 'shallow'), join(folder, 'tree')]) {
    expect((await git.head(root))?.commit).toBe(second)
    expect((await git.indexEntries(root))?.map(entry => entry.path)).toEqual(['a'])
  }
  expect(await git.history(join(folder, 'shallow'), 'a', 5)).toHaveLength(1)
})

describe('a partial clone', () => {
  function partialClone(): { readonly repo: Repository; readonly clone: string; readonly first: string; readonly blob: string } {
    const repo = repository()
    repo.git('config', 'uploadpack.allowFilter', 'true')
    repo.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
    repo.write('a', 'old content\n')
    const first = repo.commit('first')
    repo.write('a', 'new content\n')
    repo.commit('second')
    const clone = join(temporaryFolder(), 'partial')
    repo.git('clone', '-q', '--filter=blob:none', `file://${repo.root}`, clone)
    return { repo, clone, first, blob: repo.git('rev-parse', `${first}:a`) }
  }

  it('is never made to fetch an object', async () => {
    const { repo, clone, first, blob } = partialClone()
    const objects = (): number => readdirSync(join(clone, '.git/objects'), { recursive: true }).length
    const before = objects()
    const git = nodeGit(repo.env)
    expect(await git.show(clone, first, 'a')).toBeUndefined()
    expect(await git.blob(clone, blob.slice(0, 12))).toBeUndefined()
    await askAll(git, clone, first, 'a')
    expect(objects()).toBe(before)
    expect(await git.changedSince(clone, first)).toEqual(['a'])
  })

  it('without its trees is not made to fetch them', async () => {
    const { repo, first } = partialClone()
    const clone = join(temporaryFolder(), 'treeless')
    repo.git('clone', '-q', '--filter=tree:0', `file://${repo.root}`, clone)
    const objects = (): number => readdirSync(join(clone, '.git/objects'), { recursive: true }).length
    const before = objects()
    await askAll(nodeGit(repo.env), clone, first, 'a')
    expect(objects()).toBe(before)
  })

  it('is asked for no object by id with a git that would fetch it', async () => {
    const { repo, clone, first } = partialClone()
    const folder = temporaryFolder()
    const log = join(folder, 'calls')
    const real = repo.env['PATH']!.split(':')
      .map(entry => join(entry, 'git'))
      .find(existsSync)!
    const wrapper = join(folder, 'git')
    const asVersion = (version: string): void =>
      writeFileSync(
        wrapper,
        `#!/bin/sh\ncase "$*" in *' version') echo 'git version ${version}'; exit;; esac\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`,
        { mode: 0o755 },
      )
    asVersion('2.44.0')
    expect(await nodeGit(repo.env, wrapper).show(clone, first, 'a')).toBeUndefined()
    expect(readFileSync(log, 'utf8')).not.toContain('cat-file')
    asVersion('2.45.1')
    await nodeGit(repo.env, wrapper).show(clone, first, 'a')
    expect(readFileSync(log, 'utf8')).toContain('cat-file')
  })
})
