import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSocketFolder, socketPath } from '../../src/serve/place.ts'
import { temporaryFolder } from '../support/temporary.ts'

const id = '0123456789abcdef'

describe('the place of the socket', () => {
  it.each([
    [{ XDG_RUNTIME_DIR: '/run/user/7', HOME: '/home/a' }, '/run/user/7/outrigger/0123456789abcdef.sock'],
    [{ XDG_RUNTIME_DIR: 'run', HOME: '/home/a' }, '/home/a/.cache/outrigger/run/0123456789abcdef.sock'],
    [{ HOME: '/home/a' }, '/home/a/.cache/outrigger/run/0123456789abcdef.sock'],
    [{ HOME: `/home/${'a'.repeat(80)}` }, '/tmp/outrigger-7/0123456789abcdef.sock'],
    [{}, '/tmp/outrigger-7/0123456789abcdef.sock'],
  ])('with %j is %s', (env, path) => {
    expect(socketPath({ id, env, platform: 'linux', uid: 7, temporary: '/tmp' })).toBe(path)
  })

  it('of a host that listens itself carries its process id', () => {
    expect(socketPath({ id, env: {}, pid: 12, platform: 'linux', uid: 7, temporary: '/tmp' })).toBe(
      '/tmp/outrigger-7/0123456789abcdef-12.sock',
    )
  })

  it('is a named pipe on Windows', () => {
    expect(socketPath({ id, env: {}, platform: 'win32' })).toBe('\\\\.\\pipe\\outrigger-0123456789abcdef')
  })

  it('is a folder that only the user may enter', () => {
    const folder = join(temporaryFolder(), 'run')
    makeSocketFolder(join(folder, 'a.sock'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    chmodSync(folder, 0o755)
    makeSocketFolder(join(folder, 'a.sock'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it('is refused when it is a link', () => {
    const base = temporaryFolder()
    mkdirSync(join(base, 'real'))
    symlinkSync('real', join(base, 'run'))
    expect(() => makeSocketFolder(join(base, 'run', 'a.sock'))).toThrow(expect.objectContaining({ code: 'SERVE_UNSAFE_PLACE' }))
  })
})
