import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/node/files.ts'
import { overlayFiles } from '../../src/runtime/overlay-files.ts'
import { filesContract } from '../ports/files.contract.ts'
import { temporaryFolder } from '../support/temporary.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (given: Uint8Array) => new TextDecoder().decode(given)
const clock = { now: () => 1_000 }

filesContract('an overlay of the machine', () => ({ files: overlayFiles(nodeFiles(), clock), folder: temporaryFolder() }))

describe('an overlay', () => {
  const open = () => {
    const folder = temporaryFolder()
    mkdirSync(`${folder}/below`)
    writeFileSync(`${folder}/a`, 'one')
    writeFileSync(`${folder}/below/b`, 'two')
    symlinkSync('a', `${folder}/link`)
    return { folder, files: overlayFiles(nodeFiles(), clock) }
  }

  it('shows what was written, and changes nothing below', async () => {
    const { folder, files } = open()
    await files.replace(`${folder}/a`, bytes('changed'))
    await files.append(`${folder}/below/b`, bytes(' more'))
    files.makeFolder(`${folder}/new/deep`)
    await files.replace(`${folder}/new/deep/c`, bytes('three'))
    expect(text(files.read(`${folder}/a`))).toBe('changed')
    expect(text(files.read(`${folder}/below/b`))).toBe('two more')
    expect(files.list(`${folder}/new/deep`)).toEqual([{ name: 'c', kind: 'file' }])
    expect(files.remove(`${folder}/a`)).toBe(true)
    expect(files.stat(`${folder}/a`)).toBe(undefined)
    expect(
      files
        .list(folder)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['below', 'link', 'new'])
    expect(readdirSync(folder).sort()).toEqual(['a', 'below', 'link'])
    expect(readFileSync(`${folder}/a`, 'utf8')).toBe('one')
    expect(readFileSync(`${folder}/below/b`, 'utf8')).toBe('two')
  })

  it('writes through a link to what it names, as the machine does', async () => {
    const { folder, files } = open()
    await files.replace(`${folder}/link`, bytes('through'))
    expect(text(files.read(`${folder}/a`))).toBe('through')
    expect(files.lstat(`${folder}/link`)?.kind).toBe('link')
    expect(readFileSync(`${folder}/a`, 'utf8')).toBe('one')
  })

  it('gives a written file another identity', async () => {
    const { folder, files } = open()
    const before = files.stat(`${folder}/a`)
    await files.replace(`${folder}/a`, bytes('one'))
    const first = files.stat(`${folder}/a`)
    await files.replace(`${folder}/a`, bytes('one'))
    const second = files.stat(`${folder}/a`)
    expect(new Set([before, first, second].map(stat => `${stat?.inode} ${stat?.mtimeNs}`)).size).toBe(3)
  })
})
