import { mkdirSync, renameSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeWatcher } from '../../src/node/watcher.ts'
import { temporaryFolder } from '../support/temporary.ts'

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const nothing = (): void => {}

async function until(check: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !check(); round += 1) await sleep(20)
  expect(check()).toBe(true)
}

describe('a watcher', () => {
  it('tells which of its files changed, was replaced, came or went', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'sub'))
    const paths = ['a', 'b', 'sub/c', 'later'].map(name => join(folder, name))
    for (const path of paths.slice(0, 3)) writeFileSync(path, '1')
    const seen = new Set<string>()
    const handle = nodeWatcher().watch(paths, path => seen.add(path), nothing)
    await sleep(50)
    writeFileSync(join(folder, 'unwatched'), '1')
    writeFileSync(join(folder, 'a'), '2')
    writeFileSync(join(folder, 'sub/new'), '2')
    renameSync(join(folder, 'sub/new'), join(folder, 'sub/c'))
    writeFileSync(join(folder, 'later'), '1')
    await until(() => seen.size === 3)
    expect([...seen].sort()).toEqual([join(folder, 'a'), join(folder, 'later'), join(folder, 'sub/c')])
    seen.clear()
    renameSync(join(folder, 'a'), join(folder, 'gone'))
    await until(() => seen.has(join(folder, 'a')))
    // A file that was replaced is still watched.
    seen.clear()
    writeFileSync(join(folder, 'sub/c'), '3')
    await until(() => seen.has(join(folder, 'sub/c')))
    handle.close()
    seen.clear()
    writeFileSync(join(folder, 'b'), '2')
    await sleep(100)
    expect(seen.size).toBe(0)
  })

  it('goes on without a folder that is not there', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a'), '1')
    const seen: string[] = []
    const handle = nodeWatcher().watch([join(folder, 'none/x'), join(folder, 'a')], path => seen.push(path), nothing)
    writeFileSync(join(folder, 'a'), '2')
    await until(() => seen.length > 0)
    handle.close()
  })

  it('says by code when the system refuses, and leaves nothing open', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'sub'))
    let open = 0
    const refusing = ((...args: Parameters<typeof watch>) => {
      if (open === 1) throw Object.assign(new Error('no more'), { code: 'ENOSPC' })
      open += 1
      const watcher = watch(...args)
      watcher.once('close', () => {
        open = -1
      })
      return watcher
    }) as typeof watch
    const start = (): unknown => nodeWatcher(refusing).watch([join(folder, 'a'), join(folder, 'sub/b')], nothing, nothing)
    expect(start).toThrow(expect.objectContaining({ code: 'WATCH_FAILED', subject: 'ENOSPC', exit: 3 }))
    return until(() => open === -1)
  })

  it('tells of all its files when the system does not say which', () => {
    const folder = temporaryFolder()
    const seen: string[] = []
    let tell: ((event: string, name: string | null) => void) | undefined
    const silent = ((path: string, options: object, listener: typeof tell) => {
      tell = listener
      return watch(path, options)
    }) as unknown as typeof watch
    const handle = nodeWatcher(silent).watch([join(folder, 'a'), join(folder, 'b')], path => seen.push(path), nothing)
    tell!('change', null)
    expect(seen).toEqual([join(folder, 'a'), join(folder, 'b')])
    handle.close()
  })
})
