import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/node/files.ts'
import { keepInside } from '../../src/node/own-folder.ts'
import { findStore, makeStore } from '../../src/store/location.ts'
import { temporaryFolder } from '../support/temporary.ts'

const bytes = new TextEncoder().encode('x\n')

function places(): { readonly root: string; readonly outside: string } {
  const [root, outside] = [temporaryFolder(), temporaryFolder()]
  return { root, outside }
}

describe('the own folder of a project', () => {
  it.each([
    ['the folder', '.outrigger', 'keel/journal.jsonl'],
    ['a folder below it', '.outrigger/keel', 'journal.jsonl'],
  ])('is not written through when %s is a link that leads out', async (_what, link, rest) => {
    const { root, outside } = places()
    if (link.includes('/')) mkdirSync(join(root, '.outrigger'))
    symlinkSync(outside, join(root, link))
    const files = keepInside(nodeFiles(), root)
    const path = join(root, link, rest)
    await expect(files.append(path, bytes)).rejects.toMatchObject({ code: 'FILES_UNWRITABLE', subject: 'ELOOP' })
    await expect(files.replace(path, bytes)).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
    expect(() => files.makeFolder(join(root, link, 'new'))).toThrow('leads out')
    expect(() => files.remove(path)).toThrow('leads out')
    expect(readdirSync(outside)).toEqual([])
  })

  it.each(['there', 'not there yet'])('does not make or change the target of a linked file, %s', async which => {
    const { root, outside } = places()
    mkdirSync(join(root, '.outrigger/keel'), { recursive: true })
    const target = join(outside, 'target')
    if (which === 'there') writeFileSync(target, 'mine')
    symlinkSync(target, join(root, '.outrigger/keel/journal.jsonl'))
    const files = keepInside(nodeFiles(), root)
    await expect(files.append(join(root, '.outrigger/keel/journal.jsonl'), bytes)).rejects.toMatchObject({ subject: 'ELOOP' })
    expect(readdirSync(outside)).toEqual(which === 'there' ? ['target'] : [])
  })

  it('may be a link to a folder of the project, and leaves documents alone', async () => {
    const { root, outside } = places()
    mkdirSync(join(root, 'kept'))
    symlinkSync(join(root, 'kept'), join(root, '.outrigger'))
    symlinkSync(outside, join(root, 'docs'))
    const files = keepInside(nodeFiles(), root)
    await files.append(join(root, '.outrigger/journal'), bytes)
    await files.append(join(root, 'docs/a.md'), bytes)
    expect([readdirSync(join(root, 'kept')), readdirSync(outside)]).toEqual([['journal'], ['a.md']])
  })

  it('does not take the store out of the project', () => {
    const { root, outside } = places()
    mkdirSync(join(root, '.outrigger'))
    writeFileSync(join(outside, 'store.db'), '')
    symlinkSync(outside, join(root, '.outrigger/state'))
    const userState = join(temporaryFolder(), 'state')
    const where = { root, state: join(root, '.outrigger/state'), userState }
    expect(findStore(where)).toBeUndefined()
    expect(makeStore(where)).toEqual({ file: join(userState, 'store.db'), notInProject: 'ELOOP' })
    expect(readdirSync(outside)).toEqual(['store.db'])
  })
})
