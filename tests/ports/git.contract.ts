/** What every implementation of the git port keeps, in a real repository of either kind of hash. */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Git } from '../../src/ports/git.ts'
import { type Repository, repository } from '../support/repository.ts'
import { temporaryFolder } from '../support/temporary.ts'

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes)

/** Names that a careless reader of git's output breaks. */
const hardNames = [
  'plain.md',
  'with blank .md',
  'tab\there.md',
  'line\nbreak.md',
  'quote".md',
  'ümlaut/ß.md',
  '-n',
  ':(top)x',
  'star*.md',
]

export function gitContract(name: string, create: (env: Repository['env']) => Git): void {
  describe.each(['sha1', 'sha256'] as const)(`the git contract of ${name} in a repository of %s`, format => {
    const start = (): { readonly repo: Repository; readonly git: Git } => {
      const repo = repository(`--object-format=${format}`)
      return { repo, git: create(repo.env) }
    }

    it('knows the kind of hash, the branch and the head', async () => {
      const { repo, git } = start()
      expect(await git.unavailable(repo.root)).toBeUndefined()
      expect(await git.objectFormat(repo.root)).toBe(format)
      expect(await git.head(repo.root)).toEqual({ branch: 'main', commit: null })
      const commit = repo.commit('first')
      expect(await git.head(repo.root)).toEqual({ branch: 'main', commit })
      repo.git('checkout', '-q', '--detach')
      expect(await git.head(repo.root)).toEqual({ branch: null, commit })
      expect(await git.userName(repo.root)).toBe('Ada')
    })

    it('reads names of every kind from the index, the work tree and commits', async () => {
      const { repo, git } = start()
      for (const path of hardNames) repo.write(path, `content of ${path}`)
      expect([...(await git.untracked(repo.root))!].sort()).toEqual([...hardNames].sort())
      const commit = repo.commit('all')
      const entries = (await git.indexEntries(repo.root))!
      expect(entries.map(entry => entry.path).sort()).toEqual([...hardNames].sort())
      expect(entries.every(entry => entry.flag === 'H' && entry.id.length === (format === 'sha1' ? 40 : 64))).toBe(true)
      for (const path of hardNames) expect(text(await git.show(repo.root, commit, path))).toBe(`content of ${path}`)
      for (const path of hardNames) repo.write(path, 'other')
      expect([...(await git.modified(repo.root))!].sort()).toEqual([...hardNames].sort())
      expect([...(await git.changedSince(repo.root, commit))!].sort()).toEqual([...hardNames].sort())
      for (const path of hardNames) expect(await git.history(repo.root, path, 5)).toHaveLength(1)
    })

    it('lists what is tracked and what could be, and tells which files commits touched', async () => {
      const { repo, git } = start()
      for (const path of hardNames) repo.write(path, '1')
      repo.write('.gitignore', 'hidden\n')
      const first = repo.commit('all')
      repo.write('plain.md', '2')
      repo.write('ümlaut/ß.md', '2')
      const second = repo.commit('two')
      repo.git('mv', 'plain.md', 'moved.md')
      const third = repo.commit('moved')
      repo.write('hidden', '')
      repo.write('fresh', '')
      expect([...(await git.listed(repo.root))!].sort()).toEqual(
        [...hardNames.filter(path => path !== 'plain.md'), '.gitignore', 'fresh', 'moved.md'].sort(),
      )
      const limits = { max: 10, maxBytes: 1_000_000, timeoutMs: 30_000 }
      const all = (await git.touched(repo.root, limits))!
      expect(all.whole).toBe(true)
      expect(all.commits.map(({ commit, parents, files }) => ({ commit, parents, files: [...files].sort() }))).toEqual([
        { commit: third, parents: [second], files: ['moved.md', 'plain.md'] },
        { commit: second, parents: [first], files: ['plain.md', 'ümlaut/ß.md'] },
        { commit: first, parents: [], files: [...hardNames, '.gitignore'].sort() },
      ])
      expect(all.commits[0]!.at).toBe(Date.parse('2026-01-02T03:04:05Z'))
      expect(
        (await git.touched(repo.root, { ...limits, from: third, since: second }))!.commits.map(({ commit }) => commit),
      ).toEqual([third])
      expect((await git.touched(repo.root, { ...limits, max: 1 }))!.commits).toHaveLength(1)
      expect((await git.touched(repo.root, { ...limits, maxBytes: 10 }))!.whole).toBe(false)
      expect(await git.touched(repo.root, { ...limits, from: '--output=x' })).toBeUndefined()
      expect(await git.touched(join(repo.root, '..'), limits)).toBeUndefined()
    })

    it('marks entries that git does not look at', async () => {
      const { repo, git } = start()
      repo.write('a', '1')
      repo.write('b', '2')
      repo.commit('first')
      repo.git('update-index', '--skip-worktree', 'a')
      repo.git('update-index', '--assume-unchanged', 'b')
      expect((await git.indexEntries(repo.root))!.map(({ path, flag }) => [path, flag])).toEqual([
        ['a', 'S'],
        ['b', 'h'],
      ])
    })

    it("leaves out of the index what is no file's content", async () => {
      const { repo, git } = start()
      repo.write('a', '1')
      repo.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(format === 'sha1' ? 40 : 64)},sub`)
      repo.git('add', 'a')
      expect((await git.indexEntries(repo.root))!.map(entry => entry.path)).toEqual(['a'])
    })

    it('gives paths below the root that it was asked for', async () => {
      const { repo, git } = start()
      repo.write('top.md', '1')
      repo.write('docs/inner.md', '1')
      const commit = repo.commit('first')
      repo.write('top.md', '2')
      repo.write('docs/inner.md', '2')
      repo.write('docs/new.md', 'n')
      const root = join(repo.root, 'docs')
      expect((await git.indexEntries(root))!.map(entry => entry.path)).toEqual(['inner.md'])
      expect(await git.modified(root)).toEqual(['inner.md'])
      expect(await git.untracked(root)).toEqual(['new.md'])
      expect(await git.changedSince(root, commit)).toEqual(['inner.md', 'new.md'])
      expect(text(await git.show(root, commit, 'inner.md'))).toBe('1')
      expect(await git.show(root, commit, 'top.md')).toBeUndefined()
      expect(await git.history(root, 'inner.md', 5)).toHaveLength(1)
    })

    it('ignores what the project ignores', async () => {
      const { repo, git } = start()
      repo.write('.gitignore', 'out/\n')
      repo.write('out/x', '1')
      repo.write('kept', '1')
      expect([...(await git.untracked(repo.root))!].sort()).toEqual(['.gitignore', 'kept'])
    })

    it('resolves revisions, and nothing that could be an option', async () => {
      const { repo, git } = start()
      const first = repo.commit('first')
      repo.git('tag', '-a', '-m', 'x', 'v1')
      const second = repo.commit('second')
      expect(await git.resolve(repo.root, 'HEAD~1')).toBe(first)
      expect(await git.resolve(repo.root, 'v1')).toBe(first)
      expect(await git.resolve(repo.root, second.slice(0, 10))).toBe(second)
      for (const rev of ['nowhere', '', '--all', '-n1', 'HEAD\nHEAD', 'HEAD\0'])
        expect(await git.resolve(repo.root, rev)).toBeUndefined()
      expect(await git.changedSince(repo.root, '--output=x')).toBeUndefined()
    })

    it('finds where two lines of work parted', async () => {
      const { repo, git } = start()
      repo.write('a', '1')
      const base = repo.commit('base')
      repo.git('checkout', '-q', '-b', 'side')
      repo.write('b', '1')
      repo.commit('side')
      repo.git('checkout', '-q', 'main')
      repo.write('c', '1')
      repo.commit('main')
      expect(await git.mergeBase(repo.root, 'side')).toBe(base)
      expect(await git.mergeBase(repo.root, 'nowhere')).toBeUndefined()
      expect(await git.changedSince(repo.root, base)).toEqual(['c'])
    })

    it('shows a file as it was, byte for byte', async () => {
      const { repo, git } = start()
      repo.write('a', Buffer.from([0, 255, 13, 10, 128]))
      repo.write('big', 'x'.repeat(300_000))
      const commit = repo.commit('first')
      repo.write('a', 'changed')
      expect([...(await git.show(repo.root, commit, 'a'))!]).toEqual([0, 255, 13, 10, 128])
      expect((await git.show(repo.root, commit, 'big'))!.length).toBe(300_000)
      expect(await git.show(repo.root, commit, 'none')).toBeUndefined()
      expect(await git.show(repo.root, 'nowhere', 'a')).toBeUndefined()
    })

    it('finds the one blob of a prefix', async () => {
      const { repo, git } = start()
      repo.write('a', 'alpha\n')
      const commit = repo.commit('first')
      const id = repo.git('rev-parse', `${commit}:a`)
      expect(text(await git.blob(repo.root, id.slice(0, 12)))).toBe('alpha\n')
      expect(await git.blob(repo.root, commit.slice(0, 12))).toBeUndefined()
      for (const prefix of ['000000000000', 'abc', 'xyz', '--help', '']) expect(await git.blob(repo.root, prefix)).toBeUndefined()
    })

    it("tells a file's history, newest first", async () => {
      const { repo, git } = start()
      repo.write('a', '1')
      const first = repo.commit('first: über "alles"')
      repo.write('b', '1')
      repo.commit('elsewhere')
      repo.write('a', '2')
      const third = repo.commit('third')
      const found = await git.history(repo.root, 'a', 10)
      expect(found?.map(({ commit, author, subject }) => [commit, author, subject])).toEqual([
        [third, 'Ada', 'third'],
        [first, 'Ada', 'first: über "alles"'],
      ])
      expect(Date.parse(found![0]!.date)).toBe(Date.parse('2026-01-02T03:04:05Z'))
      expect(await git.history(repo.root, 'a', 1)).toHaveLength(1)
      expect(await git.history(repo.root, 'none', 5)).toEqual([])
    })

    it('tells renames: committed, staged and by hand, the newest first', async () => {
      const { repo, git } = start()
      const content = (name: string): string => `${name}\n`.repeat(20)
      for (const name of ['one', 'two', 'three']) repo.write(`${name}.md`, content(name))
      repo.commit('first')
      repo.git('mv', 'one.md', 'first.md')
      repo.commit('renamed')
      repo.write('similar', 'x')
      repo.git('mv', 'two.md', 'second.md')
      mkdirSync(join(repo.root, 'sub'))
      renameSync(join(repo.root, 'three.md'), join(repo.root, 'sub/third one.md'))
      expect(await git.renames(repo.root, 50)).toEqual([
        { from: 'two.md', to: 'second.md' },
        { from: 'three.md', to: 'sub/third one.md' },
        { from: 'one.md', to: 'first.md' },
      ])
      expect((await git.renames(repo.root, 0))!.map(rename => rename.from)).toEqual(['two.md', 'three.md'])
    })
  })

  describe(`the git contract of ${name} where there is none`, () => {
    it('answers nothing in a folder that is no repository, until it becomes one', async () => {
      const repo = repository()
      const git = create(repo.env)
      rmSync(join(repo.root, '.git'), { recursive: true })
      expect(await git.unavailable(repo.root)).toBe('no repository')
      expect(await git.indexEntries(repo.root)).toBeUndefined()
      expect(await git.modified(repo.root)).toBeUndefined()
      expect(await git.untracked(repo.root)).toBeUndefined()
      expect(await git.resolve(repo.root, 'HEAD')).toBeUndefined()
      expect(await git.mergeBase(repo.root, 'HEAD')).toBeUndefined()
      expect(await git.changedSince(repo.root, 'HEAD')).toBeUndefined()
      expect(await git.show(repo.root, 'HEAD', 'a')).toBeUndefined()
      expect(await git.blob(repo.root, '0123456789ab')).toBeUndefined()
      expect(await git.history(repo.root, 'a', 5)).toBeUndefined()
      expect(await git.renames(repo.root, 5)).toBeUndefined()
      expect(await git.userName(repo.root)).toBeUndefined()
      expect(await git.head(repo.root)).toBeUndefined()
      repo.git('init', '-q')
      expect(await git.unavailable(repo.root)).toBeUndefined()
      expect(await git.untracked(repo.root)).toEqual([])
    })

    it('answers nothing in a folder that is gone', async () => {
      const repo = repository()
      expect(await create(repo.env).indexEntries(join(temporaryFolder(), 'none'))).toBeUndefined()
    })
  })
}
