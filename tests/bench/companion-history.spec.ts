import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { measureHistory } from '../../bench/companion-history.ts'
import { repository } from '../support/repository.ts'

const importing = (name: string, n: number) => `import { ${name} } from '../src/${name}.ts'\n// ${n}\n`

describe('the measure of companion on a history', () => {
  it('hides the source’s own test, asks about the rest, and leaves the repository as it is', async () => {
    const repo = repository()
    repo.write('src/parse.ts', '')
    repo.write('tests/parse.test.ts', importing('parse', 0))
    repo.write('tests/about.test.ts', '')
    repo.commit('first')
    repo.write('src/parse.ts', '// 1')
    repo.write('tests/parse.test.ts', importing('parse', 1))
    // By path it comes first, and it has nothing to do with the source.
    repo.write('tests/about.test.ts', '// 1')
    repo.commit('second')
    repo.write('src/late.ts', '')
    repo.write('tests/late.test.ts', importing('late', 2))
    repo.commit('third')
    repo.write('notes.txt', 'nothing to hide')
    repo.commit('fourth')
    const before = repo.git('status', '--porcelain')

    const { outcomes, failed } = await measureHistory(repo.root, 10)
    expect(failed).toBe(0)
    expect(outcomes.map(({ hidden, isTied, isNew, rest }) => ({ hidden, isTied, isNew, rest }))).toEqual([
      { hidden: 'tests/late.test.ts', isTied: true, isNew: true, rest: ['src/late.ts'] },
      { hidden: 'tests/parse.test.ts', isTied: true, isNew: false, rest: ['src/parse.ts', 'tests/about.test.ts'] },
    ])
    expect(outcomes.map(({ named }) => named.map(({ path }) => path))).toEqual([[], ['tests/parse.test.ts']])
    expect(repo.git('status', '--porcelain')).toBe(before)
    expect(repo.git('worktree', 'list').split('\n')).toHaveLength(1)
  })

  it('finds nothing to ask in a repository without commits, of documents alone, or of one commit', async () => {
    const empty = repository()
    expect(await measureHistory(empty.root, 10)).toEqual({ outcomes: [], failed: 0 })
    const documents = repository()
    documents.write('a.md', '')
    documents.commit('first')
    documents.write('a.md', 'a')
    documents.write('b.md', 'b')
    documents.commit('second')
    expect((await measureHistory(documents.root, 10)).outcomes).toEqual([])
  })

  it('starts from a folder in the repository, at what is checked out there', async () => {
    const repo = repository()
    mkdirSync(join(repo.root, 'deep'))
    repo.write('deep/a_test.go', '')
    repo.write('deep/a.go', '')
    repo.commit('first')
    repo.write('deep/a.go', 'package deep')
    repo.write('deep/a_test.go', 'package deep')
    repo.commit('second')
    repo.git('checkout', '-q', '--detach', 'HEAD~0')
    const { outcomes } = await measureHistory(join(repo.root, 'deep'), 10)
    expect(outcomes).toMatchObject([{ hidden: 'deep/a_test.go', kind: 'test', named: [{ path: 'deep/a_test.go', k: 0.7858 }] }])
  })
})
