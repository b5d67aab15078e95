/** What every implementation of the files port keeps. `folder` is an empty one for each test. */
import { describe, expect, it } from 'vitest'
import type { Files } from '../../src/ports/files.ts'

export interface FilesUnderTest {
  readonly files: Files
  readonly folder: string
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (given: Uint8Array): string => new TextDecoder().decode(given)

export function filesContract(name: string, open: () => FilesUnderTest): void {
  describe(`the files contract of ${name}`, () => {
    it('says nothing is there with undefined', () => {
      const { files, folder } = open()
      expect(files.stat(`${folder}/none`)).toBeUndefined()
      expect(files.lstat(`${folder}/none/deeper`)).toBeUndefined()
      expect(files.realpath(`${folder}/none`)).toBeUndefined()
      expect(files.remove(`${folder}/none`)).toBe(false)
    })

    it('refuses to read and list what is not there, by code', () => {
      const { files, folder } = open()
      expect(() => files.read(`${folder}/none`)).toThrow(expect.objectContaining({ code: 'FILES_MISSING' }))
      expect(() => files.list(`${folder}/none`)).toThrow(expect.objectContaining({ code: 'FILES_MISSING' }))
      expect(() => [...files.readChunks(`${folder}/none`, 10)]).toThrow(expect.objectContaining({ code: 'FILES_MISSING' }))
    })

    it('tells a file from a folder', async () => {
      const { files, folder } = open()
      await files.replace(`${folder}/a`, bytes('one'))
      files.makeFolder(`${folder}/deep/er`)
      expect(files.stat(`${folder}/a`)).toMatchObject({ kind: 'file', size: 3, links: 1 })
      expect(files.stat(`${folder}/deep`)?.kind).toBe('folder')
      expect(() => files.read(`${folder}/deep`)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
      expect(() => files.list(`${folder}/a`)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FOLDER' }))
      expect([...files.list(folder)].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
        { name: 'a', kind: 'file' },
        { name: 'deep', kind: 'folder' },
      ])
    })

    it('makes a folder that is there already', () => {
      const { files, folder } = open()
      files.makeFolder(`${folder}/x/y`)
      files.makeFolder(`${folder}/x/y`)
      expect(files.stat(`${folder}/x/y`)?.kind).toBe('folder')
    })

    it.each(['', 'a', 'line\nline\n', '\u0000\u00ff', 'ä€𐍈'.repeat(50_000)])(
      'reads back what was written (%#)',
      async content => {
        const { files, folder } = open()
        await files.replace(`${folder}/a`, bytes(content))
        expect(text(files.read(`${folder}/a`))).toBe(content)
        const parts = [...files.readChunks(`${folder}/a`, 1_000)].map(part => Uint8Array.from(part))
        expect(parts.every(part => part.length > 0 && part.length <= 1_000)).toBe(true)
        expect(Buffer.concat(parts).equals(bytes(content))).toBe(true)
      },
    )

    it.each([
      ['as it was seen', 5, 64],
      ['shorter than it was seen', 9, 64],
      ['longer than it was seen', 2, 64],
      ['larger than the memory at hand', 5, 5],
      ['seen when it was empty', 0, 64],
    ])('reads the same with a hint: a file %s', async (_what, size, room) => {
      const { files, folder } = open()
      await files.replace(`${folder}/a`, bytes('12345'))
      const hint = { size, into: new Uint8Array(room) }
      expect(text(files.read(`${folder}/a`, 100, hint))).toBe('12345')
      expect(() => files.read(`${folder}/a`, 4, hint)).toThrow(expect.objectContaining({ code: 'FILES_TOO_LARGE' }))
      expect(() => files.read(`${folder}/none`, 100, hint)).toThrow(expect.objectContaining({ code: 'FILES_MISSING' }))
      expect(() => files.read(folder, 100, hint)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
    })

    it('refuses a file that is larger than asked for', async () => {
      const { files, folder } = open()
      await files.replace(`${folder}/a`, bytes('12345'))
      expect(text(files.read(`${folder}/a`, 5))).toBe('12345')
      expect(() => files.read(`${folder}/a`, 4)).toThrow(expect.objectContaining({ code: 'FILES_TOO_LARGE' }))
    })

    it('moves the identity of a file with its content', async () => {
      const { files, folder } = open()
      await files.replace(`${folder}/a`, bytes('one'))
      const before = files.stat(`${folder}/a`)!
      expect(files.stat(`${folder}/a`)).toEqual(before)
      await files.replace(`${folder}/a`, bytes('two'))
      const after = files.stat(`${folder}/a`)!
      expect([after.inode, after.mtimeNs, after.ctimeNs]).not.toEqual([before.inode, before.mtimeNs, before.ctimeNs])
    })

    describe('replace', () => {
      it('goes on when the file holds what is expected', async () => {
        const { files, folder } = open()
        await files.replace(`${folder}/a`, bytes('one'), { expect: null })
        await files.replace(`${folder}/a`, bytes('two'), { expect: bytes('one') })
        expect(text(files.read(`${folder}/a`))).toBe('two')
      })

      it.each([
        ['nothing is expected and something is there', null],
        ['other bytes of the same length are there', bytes('eno')],
        ['other bytes are there', bytes('longer')],
      ])('writes nothing when %s', async (_why, expected) => {
        const { files, folder } = open()
        await files.replace(`${folder}/a`, bytes('one'))
        const refused = files.replace(`${folder}/a`, bytes('two'), { expect: expected })
        await expect(refused).rejects.toMatchObject({ code: 'FILES_MOVED', exit: 4 })
        expect(text(files.read(`${folder}/a`))).toBe('one')
        expect(files.list(folder).map(entry => entry.name)).toEqual(['a'])
      })

      it('writes nothing when the expected file is gone', async () => {
        const { files, folder } = open()
        await expect(files.replace(`${folder}/a`, bytes('two'), { expect: bytes('one') })).rejects.toMatchObject({
          code: 'FILES_MOVED',
        })
        expect(files.stat(`${folder}/a`)).toBeUndefined()
        expect(files.list(folder)).toEqual([])
      })

      it('keeps the mode, or takes the one that is given', async () => {
        const { files, folder } = open()
        await files.replace(`${folder}/a`, bytes('one'), { mode: 0o750 })
        await files.replace(`${folder}/a`, bytes('two'))
        expect(files.stat(`${folder}/a`)?.mode).toBe(0o750)
        await files.replace(`${folder}/a`, bytes('three'), { mode: 0o600 })
        expect(files.stat(`${folder}/a`)?.mode).toBe(0o600)
      })

      it('refuses a folder that is not there', async () => {
        const { files, folder } = open()
        await expect(files.replace(`${folder}/none/a`, bytes('x'))).rejects.toMatchObject({
          code: 'FILES_UNWRITABLE',
          subject: `${folder}/none/a`,
          cause: { code: 'ENOENT' },
        })
      })

      it("refuses to put a file in a folder's place", async () => {
        const { files, folder } = open()
        files.makeFolder(`${folder}/a`)
        await expect(files.replace(`${folder}/a`, bytes('x'))).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
        expect(files.stat(`${folder}/a`)?.kind).toBe('folder')
      })
    })

    it('appends to a file, made when missing', async () => {
      const { files, folder } = open()
      await files.append(`${folder}/log`, bytes('one\n'))
      await files.append(`${folder}/log`, bytes('two\n'))
      expect(text(files.read(`${folder}/log`))).toBe('one\ntwo\n')
    })

    it('keeps every append of many at once whole', async () => {
      const { files, folder } = open()
      await Promise.all(Array.from({ length: 50 }, (_, at) => files.append(`${folder}/log`, bytes(`line ${at}\n`))))
      expect(
        new Set(
          text(files.read(`${folder}/log`))
            .trim()
            .split('\n'),
        ).size,
      ).toBe(50)
    })

    it('removes a file once', async () => {
      const { files, folder } = open()
      await files.replace(`${folder}/a`, bytes('one'))
      expect(files.remove(`${folder}/a`)).toBe(true)
      expect(files.remove(`${folder}/a`)).toBe(false)
      expect(files.stat(`${folder}/a`)).toBeUndefined()
    })
  })
}
