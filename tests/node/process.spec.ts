import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bootId, isOfThisBoot } from '../../src/node/boot.ts'
import { nodeProcesses } from '../../src/node/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const processes = nodeProcesses()
const node = (
  program: string,
  more: { readonly timeoutMs?: number; readonly input?: Uint8Array; readonly env?: Record<string, string> } = {},
) => processes.run(process.execPath, ['-e', program], { cwd: temporaryFolder(), timeoutMs: 20_000, ...more })

describe('a program', () => {
  it('is run to its end, its output in bytes', async () => {
    const result = await node(
      'process.stdout.write(Buffer.from([0, 255, 10])); process.stderr.write("why"); process.exitCode = 3',
    )
    expect(result).toEqual({ exit: 3, stdout: Buffer.from([0, 255, 10]), stderr: 'why', timedOut: false })
  })

  it('gets its input and the environment laid over ours', async () => {
    const result = await node(
      'process.stdin.on("data", d => process.stdout.write(d)); console.log(process.env.MINE, process.env.PATH !== undefined)',
      {
        input: new TextEncoder().encode('given'),
        env: { MINE: 'x' },
      },
    )
    expect(result.stdout.toString()).toContain('x true')
    expect(result.stdout.toString()).toContain('given')
  })

  it('may leave its input unread', async () => {
    expect((await node('process.exit(0)', { input: new Uint8Array(5_000_000) })).exit).toBe(0)
  })

  it('may print more than a pipe holds', async () => {
    expect((await node('process.stdout.write("x".repeat(3_000_000))')).stdout.length).toBe(3_000_000)
  })

  it('is ended when its time is over, also when its own child holds the output open', async () => {
    const start = performance.now()
    const result = await node(
      'require("child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 8000)"], { stdio: "inherit" }); setInterval(() => {}, 1000)',
      { timeoutMs: 600 },
    )
    expect(result).toMatchObject({ exit: null, timedOut: true })
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  it('that a signal ended has no exit code', async () => {
    expect(await node('process.kill(process.pid, "SIGKILL")')).toMatchObject({ exit: null, timedOut: false })
  })

  it('that is not there is told by code', async () => {
    const running = processes.run('no-such-program-anywhere', [], { cwd: temporaryFolder(), timeoutMs: 1_000 })
    await expect(running).rejects.toMatchObject({ code: 'PROCESS_NOT_FOUND', exit: 3, subject: 'no-such-program-anywhere' })
  })

  it.skipIf(process.platform === 'win32')('is not there when only a folder of the path has its name', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'no-such-program-anywhere'))
    const running = nodeProcesses({ PATH: cwd }).run('no-such-program-anywhere', [], { cwd, timeoutMs: 1_000 })
    await expect(running).rejects.toMatchObject({ code: 'PROCESS_NOT_FOUND', exit: 3 })
  })

  it.skipIf(process.platform === 'win32')('that may not be run is another fault', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'program'), 'text')
    const running = nodeProcesses({ PATH: cwd }).run('program', [], { cwd, timeoutMs: 1_000 })
    await expect(running).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  })

  it('in a folder that is not there is another fault', async () => {
    const running = processes.run(process.execPath, ['-v'], { cwd: join(temporaryFolder(), 'none'), timeoutMs: 1_000 })
    await expect(running).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  })

  it('that may not be run is another fault', async () => {
    const path = join(temporaryFolder(), 'program')
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o644 })
    await expect(processes.run(path, [], { cwd: '/', timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  })
})

describe('an owner', () => {
  it('is this process, and alive', () => {
    expect(processes.owner()).toMatch(new RegExp(`^${process.pid}:[^:]+:[^:]+$`))
    expect(processes.owner()).toBe(processes.owner())
    expect(processes.isAlive(processes.owner())).toBe(true)
    expect(isOfThisBoot(processes.owner())).toBe(true)
  })

  it('is dead once its process is gone, unreaped or not', async () => {
    const child = spawn(process.execPath, [
      '-e',
      `
      import(${JSON.stringify(new URL('../../src/node/boot.ts', import.meta.url).href)}).then(boot => console.log(boot.ownerId()))
      setInterval(() => {}, 1000)
    `,
    ])
    const owner = await new Promise<string>(resolve => child.stdout.once('data', data => resolve(String(data).trim())))
    expect(owner).toMatch(new RegExp(`^${child.pid}:`))
    expect(processes.isAlive(owner)).toBe(true)
    child.kill('SIGKILL')
    await new Promise(resolve => child.once('exit', resolve))
    expect(processes.isAlive(owner)).toBe(false)
  })

  it.runIf(process.platform === 'linux')('is dead when only its entry is left', async () => {
    // The shell becomes a program that never asks how its child ended.
    const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 20'])
    const pid = await new Promise<string>(resolve => parent.stdout.once('data', data => resolve(String(data).trim())))
    expect(processes.isAlive(`${pid}:${bootId()}:0`)).toBe(true)
    await new Promise(resolve => setTimeout(resolve, 400))
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    expect(processes.isAlive(`${pid}:${bootId()}:0`)).toBe(false)
    parent.kill('SIGKILL')
  })

  it('is another one when the number was given again', () => {
    expect(processes.isAlive(`${process.pid}:${bootId()}:1`)).toBe(process.platform === 'win32')
  })

  it('of another boot is not alive, and cannot be told dead', () => {
    const owner = `${process.pid}:another-boot:1`
    expect(processes.isAlive(owner)).toBe(false)
    expect(isOfThisBoot(owner)).toBe(false)
  })

  it.each([
    '',
    'x',
    '1',
    '1:2',
    `0:${bootId()}:0`,
    `-1:${bootId()}:0`,
    `99999999999999999999:${bootId()}:0`,
    `1e3:${bootId()}:0`,
  ])('that is no owner is not alive: "%s"', owner => {
    expect(processes.isAlive(owner)).toBe(false)
  })
})
