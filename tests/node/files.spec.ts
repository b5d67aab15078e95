import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FileCalls, nodeFiles } from '../../src/node/files.ts'
import { temporaryFolder } from '../support/temporary.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const files = nodeFiles()
const isRoot = process.getuid?.() === 0

/** Fails like the system does. */
function failing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code })
  }
}

const calls = (changed: Partial<FileCalls>): FileCalls => ({ write: writeSync, fsync: fsyncSync, rename: renameSync, ...changed })

describe('links', () => {
  it('are followed by stat and seen by lstat', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'real'), 'one')
    symlinkSync('real', join(folder, 'link'))
    expect(files.stat(join(folder, 'link'))?.kind).toBe('file')
    expect(files.lstat(join(folder, 'link'))?.kind).toBe('link')
    expect(files.realpath(join(folder, 'link'))).toBe(join(folder, 'real'))
    expect(files.list(folder).find(entry => entry.name === 'link')?.kind).toBe('link')
  })

  it('that dangle or loop are nothing', () => {
    const folder = temporaryFolder()
    symlinkSync('nowhere', join(folder, 'dangling'))
    symlinkSync('loop', join(folder, 'loop'))
    for (const name of ['dangling', 'loop']) {
      expect(files.stat(join(folder, name))).toBeUndefined()
      expect(files.realpath(join(folder, name))).toBeUndefined()
      expect(() => files.read(join(folder, name))).toThrow(expect.objectContaining({ code: 'FILES_MISSING' }))
    }
  })

  it('are written through, so that their target changes and they stay', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'elsewhere'))
    writeFileSync(join(folder, 'elsewhere/real'), 'one')
    symlinkSync('elsewhere/real', join(folder, 'link'))
    await files.replace(join(folder, 'link'), bytes('two'), { expect: bytes('one') })
    expect(readlinkSync(join(folder, 'link'))).toBe('elsewhere/real')
    expect(readFileSync(join(folder, 'elsewhere/real'), 'utf8')).toBe('two')
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['real'])
  })

  it('that dangle are not written through', async () => {
    const folder = temporaryFolder()
    symlinkSync('nowhere', join(folder, 'dangling'))
    await expect(files.replace(join(folder, 'dangling'), bytes('x'))).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
    expect(lstatSync(join(folder, 'dangling')).isSymbolicLink()).toBe(true)
    expect(readdirSync(folder)).toEqual(['dangling'])
  })
})

describe('a pipe', () => {
  const pipe = (): string => {
    const path = join(temporaryFolder(), 'pipe')
    expect(spawnSync('mkfifo', [path]).status).toBe(0)
    return path
  }

  it('is never opened', async () => {
    const path = pipe()
    expect(files.stat(path)?.kind).toBe('other')
    expect(() => files.read(path)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
    expect(() => [...files.readChunks(path, 10)]).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
    await expect(files.append(path, bytes('x'))).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
    await expect(files.replace(path, bytes('x'))).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
    expect(lstatSync(path).isFIFO()).toBe(true)
  })

  it('does not even let a waiting writer go on', async () => {
    const path = pipe()
    const writer = spawn('sh', ['-c', 'echo x > "$1"', 'sh', path], { stdio: 'ignore' })
    let isThrough = false
    const ended = new Promise(resolve => writer.once('exit', resolve)).then(() => {
      isThrough = true
    })
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(() => files.read(path)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(isThrough).toBe(false)
    writer.kill('SIGKILL')
    await ended
  })

  it('nor is a device', () => {
    expect(() => files.read('/dev/zero', 100)).toThrow(expect.objectContaining({ code: 'FILES_NOT_FILE' }))
  })
})

describe('stat', () => {
  it('gives times in nanoseconds, links and mode', () => {
    const folder = temporaryFolder()
    const path = join(folder, 'a')
    writeFileSync(path, 'one', { mode: 0o640 })
    linkSync(path, join(folder, 'b'))
    utimesSync(path, 1, 1.5)
    const found = files.stat(path)!
    expect(found).toMatchObject({ mtimeNs: 1_500_000_000n, links: 2, mode: statSync(path).mode & 0o7777 })
    expect(found.ctimeNs).toBe(statSync(path, { bigint: true }).ctimeNs)
    expect(files.stat(join(folder, 'b'))).toEqual(found)
  })
})

describe('replace', () => {
  it.each<[string, Partial<FileCalls>]>([
    ['ENOSPC', { write: failing('ENOSPC') }],
    ['EIO', { fsync: failing('EIO') }],
    ['EACCES', { rename: failing('EACCES') }],
  ])('leaves the old file and nothing beside it when the system says %s', async (code, changed) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a'), 'one')
    const broken = nodeFiles(calls(changed))
    await expect(broken.replace(join(folder, 'a'), bytes('two'))).rejects.toMatchObject({
      code: 'FILES_UNWRITABLE',
      subject: join(folder, 'a'),
      cause: { code },
      exit: 3,
    })
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('one')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('keeps a mode that new files do not get', async () => {
    const path = join(temporaryFolder(), 'a')
    writeFileSync(path, 'one')
    chmodSync(path, 0o666)
    await files.replace(path, bytes('two'))
    expect(statSync(path).mode & 0o777).toBe(0o666)
  })

  it('goes on writing after a short write', async () => {
    const folder = temporaryFolder()
    const slow = nodeFiles(
      calls({
        write: ((fd: number, data: Uint8Array, offset: number, length: number) =>
          writeSync(fd, data, offset, Math.min(3, length))) as typeof writeSync,
      }),
    )
    await slow.replace(join(folder, 'a'), bytes('0123456789'))
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('0123456789')
  })

  it('sees an edit of the same size that came while it wrote', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'a')
    writeFileSync(path, 'one')
    const racing = nodeFiles(
      calls({
        fsync: fd => {
          writeFileSync(path, 'ONE')
          fsyncSync(fd)
        },
      }),
    )
    await expect(racing.replace(path, bytes('two'), { expect: bytes('one') })).rejects.toMatchObject({ code: 'FILES_MOVED' })
    expect(readFileSync(path, 'utf8')).toBe('ONE')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('syncs the file before the rename and the folder after it', async () => {
    const folder = temporaryFolder()
    const order: string[] = []
    const watched = nodeFiles(
      calls({
        fsync: fd => {
          order.push('fsync')
          fsyncSync(fd)
        },
        rename: (from, to) => {
          order.push('rename')
          renameSync(from, to)
        },
      }),
    )
    await watched.replace(join(folder, 'a'), bytes('x'))
    expect(order).toEqual(['fsync', 'rename', 'fsync'])
  })

  it.skipIf(isRoot)('names the code when the folder is closed', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    await expect(files.replace(join(folder, 'a'), bytes('x'))).rejects.toMatchObject({
      code: 'FILES_UNWRITABLE',
      subject: join(folder, 'a'),
      cause: { code: 'EACCES' },
    })
  })

  it('clears what a killed process left beside its file, and nothing else', async () => {
    const folder = temporaryFolder()
    const gone = spawnSync(process.execPath, ['-e', '']).pid
    const left = `.a.md.${gone}.0123456789ab.tmp`
    const kept = [`.b.md.${process.pid}.0123456789ab.tmp`, `.young.md.${gone}.0123456789ab.tmp`, '.a.md.tmp', `a.${gone}.tmp`]
    for (const name of [left, ...kept]) {
      writeFileSync(join(folder, name), 'half')
      const old = Date.now() / 1000 - 3600
      if (!name.startsWith('.young')) utimesSync(join(folder, name), old, old)
    }
    await files.replace(join(folder, 'a.md'), bytes('whole'))
    expect(readdirSync(folder).sort()).toEqual(['a.md', ...kept].sort())
  })

  it('leaves the whole old or the whole new file behind a kill at any moment', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'a')
    const program = `
      import { nodeFiles } from ${JSON.stringify(new URL('../../src/node/files.ts', import.meta.url).href)}
      const files = nodeFiles()
      process.stdout.write('ready')
      for (let round = 0; ; round += 1) await files.replace(${JSON.stringify(path)}, Buffer.alloc(200_000, 'ab'[round % 2]))
    `
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = new Promise(resolve => child.once('exit', resolve))
      await new Promise(resolve => child.stdout.once('data', resolve))
      await new Promise(resolve => setTimeout(resolve, 3 + round * 4))
      child.kill('SIGKILL')
      await ended
      const content = files.stat(path) === undefined ? undefined : readFileSync(path)
      if (content === undefined) continue
      expect(content.length).toBe(200_000)
      expect(content.every(byte => byte === content[0])).toBe(true)
    }
  })
})

describe('append', () => {
  it('reports a short write', async () => {
    const folder = temporaryFolder()
    const short = nodeFiles(calls({ write: ((fd: number, data: Uint8Array) => writeSync(fd, data, 0, 2)) as typeof writeSync }))
    await expect(short.append(join(folder, 'log'), bytes('12345'))).rejects.toMatchObject({ code: 'FILES_SHORT_WRITE', exit: 3 })
  })

  it.each(['ENOSPC', 'EDQUOT'])('names the code when the system says %s', async code => {
    const folder = temporaryFolder()
    const full = nodeFiles(calls({ write: failing(code) }))
    await expect(full.append(join(folder, 'log'), bytes('1'))).rejects.toMatchObject({
      code: 'FILES_UNWRITABLE',
      subject: join(folder, 'log'),
      cause: { code },
    })
  })

  it('is one write, synced before it is acknowledged', async () => {
    const folder = temporaryFolder()
    const order: string[] = []
    const watched = nodeFiles(
      calls({
        write: ((fd: number, data: Uint8Array, offset: number, length: number) => {
          order.push(`write ${length}`)
          return writeSync(fd, data, offset, length)
        }) as typeof writeSync,
        fsync: fd => {
          order.push('fsync')
          fsyncSync(fd)
        },
      }),
    )
    writeFileSync(join(folder, 'log'), '')
    await watched.append(join(folder, 'log'), bytes('x'.repeat(100_000)))
    expect(order).toEqual(['write 100000', 'fsync'])
  })

  it('of several processes keeps every line whole', async () => {
    const path = join(temporaryFolder(), 'log')
    const program = `
      import { nodeFiles } from ${JSON.stringify(new URL('../../src/node/files.ts', import.meta.url).href)}
      const files = nodeFiles()
      for (let at = 0; at < 50; at += 1) await files.append(${JSON.stringify(path)}, Buffer.from(process.argv[1] + ' ' + at + ' ' + 'x'.repeat(3000) + '\\n'))
    `
    const run = (name: string) =>
      new Promise(resolve => {
        spawn(process.execPath, ['--input-type=module', '-e', program, name], { stdio: 'inherit' }).once('exit', resolve)
      })
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(run))).toEqual([0, 0, 0, 0])
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(200)
    expect(lines.every(line => /^[abcd] \d+ x{3000}$/.test(line))).toBe(true)
  })
})
