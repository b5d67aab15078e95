/** Files: what is read leaves a stamp, what is written is an effect. Descriptors remember their paths. */
import type { Captured } from '../captured.ts'
import type { Stamp } from '../tape.ts'
import { type Ambient, type Call, type Callable, isCalledByPlatform, isPartOfFiles } from './ambient.ts'
import type { Recording } from './recording.ts'
import { takeStamp } from './stamps.ts'

declare const captured: Captured

type Properties = Record<string, unknown>
type Of = Stamp['of']

const reads: Readonly<Record<string, Of>> = {
  readFile: 'file',
  openAsBlob: 'file',
  stat: 'stat',
  lstat: 'lstat',
  statfs: 'stat',
  access: 'exists',
  exists: 'exists',
  readdir: 'directory',
  opendir: 'directory',
  readlink: 'link',
  realpath: 'link',
  glob: 'tree',
}

const writes = (
  'appendFile writeFile copyFile cp rename rm rmdir unlink mkdir mkdtemp mkdtempDisposable symlink link truncate ftruncate chmod fchmod lchmod chown fchown lchown utimes ' +
  'futimes lutimes write writev'
).split(' ')

const handleWrites = 'write writev writeFile appendFile truncate chmod chown utimes'.split(' ')

/** Functions that take a second path and change that one. */
const secondPath: ReadonlySet<string> = new Set(['copyFile', 'cp', 'symlink', 'link'])

const isOutput = (descriptor: unknown): boolean => descriptor === 1 || descriptor === 2

export function installFiles(ambient: Ambient, fs: Properties): void {
  const paths = new Map<number, string>()
  let handlePrototype: object | undefined

  const pathOf = (given: unknown): string | undefined => {
    if (typeof given === 'number') return paths.get(given)
    return ambient.unseen(() => captured.pathOf(given))
  }
  const read = (recording: Recording, of: Of, path: string): void => {
    if (!recording.needsStamp(of, path)) return
    const { stamp, hashed } = ambient.unseen(() => takeStamp(of, path, () => undefined))
    recording.stamp(stamp, hashed)
  }
  const subjectOf = (given: unknown): string | undefined =>
    pathOf(given) ?? (typeof given === 'number' ? `descriptor ${given}` : undefined)

  /** Comes in its turn: the callback, or the promise, of an asynchronous read. */
  const inTurn = ({ given, recording, proceed }: Call): unknown => {
    const callback = given[given.length - 1]
    const number = recording.newRead()
    if (typeof callback === 'function') {
      const done = function (this: unknown, ...results: unknown[]): void {
        const run = captured.snapshot()
        const give = (): void => void Reflect.apply(callback, this, results)
        if (recording.isReplay) recording.hold('f', number, () => run(give))
        else {
          recording.delivered('f', number)
          give()
        }
      }
      return proceed([...given.slice(0, -1), done])
    }
    const result = proceed()
    if (!captured.modules.util.types.isPromise(result)) return result
    return captured.realm.makePromise((resolve, reject) => {
      const settle = (give: () => void): void => {
        if (recording.isReplay) recording.hold('f', number, give)
        else {
          recording.delivered('f', number)
          give()
        }
      }
      observe(
        result,
        value => settle(() => resolve(value)),
        reason => settle(() => reject(reason)),
      )
    })
  }

  const noteRead = (name: string, of: Of, call: Call): void => {
    const path = pathOf(name === 'glob' ? ((call.given[1] as Properties | undefined)?.['cwd'] ?? '.') : call.given[0])
    if (path === undefined || isOfLoader(name, path)) return
    const options = call.given[1]
    const isTree =
      of === 'directory' && typeof options === 'object' && options !== null && (options as Properties)['recursive'] === true
    read(call.recording, isTree ? 'tree' : of, path)
  }
  /** Packages are loaded by the platform; what they are made of does not change under a session. */
  const isOfLoader = (name: string, path: string): boolean =>
    (name === 'realpath' || ((name === 'readFile' || name === 'open') && /[\\/]node_modules[\\/]/.test(path))) &&
    isCalledByPlatform()

  const noteWrite = (name: string, call: Call): void => {
    const [first, second] = call.given
    if ((name === 'write' || name === 'writev' || name === 'writeFile' || name === 'appendFile') && isOutput(first)) return
    call.recording.effect('file', subjectOf(secondPath.has(name) ? second : first))
  }
  const noteOpen = (call: Call): boolean => {
    const [path, flags = 'r'] = call.given
    const at = pathOf(path)
    if (opensForWriting(typeof flags === 'function' ? 'r' : flags)) {
      call.recording.effect('file', at)
      return true
    }
    if (at !== undefined && !isOfLoader('open', at)) read(call.recording, 'file', at)
    return false
  }
  const remember = (descriptor: unknown, path: unknown): void => {
    const at = pathOf(path)
    if (typeof descriptor === 'number' && at !== undefined) paths.set(descriptor, at)
  }

  for (const owner of [fs, fs['promises'] as Properties]) {
    for (const [name, of] of Object.entries(reads)) {
      const isPromised = owner !== fs
      ambient.replace(owner, name, call => {
        noteRead(name, of, call)
        // What gives an iterator is read bit by bit.
        return name === 'glob' && isPromised ? call.proceed() : inTurn(call)
      })
      ambient.replace(owner, `${name}Sync`, call => {
        noteRead(name, of, call)
        return call.proceed()
      })
    }
    for (const name of writes)
      for (const each of [name, `${name}Sync`])
        ambient.replace(owner, each, call => {
          // What is called later by another one of them is not covered by the one being seen.
          const isPart = owner === fs && each === name && isPartOfFiles()
          if (!isPart) noteWrite(name, call)
          return call.proceed()
        })
  }
  for (const name of ['realpath', 'realpathSync']) {
    const native = (fs[name] as Properties | undefined)?.['native']
    if (typeof native !== 'function') continue
    ambient.replace(fs[name] as object, 'native', call => {
      noteRead('realpath', 'link', call)
      return name === 'realpath' ? inTurn(call) : call.proceed()
    })
  }
  ambient.replace(fs, 'openSync', call => {
    noteOpen(call)
    const descriptor = call.proceed()
    remember(descriptor, call.given[0])
    return descriptor
  })
  ambient.replace(fs, 'open', call => {
    const writesIt = noteOpen(call)
    const callback = call.given[call.given.length - 1]
    if (typeof callback !== 'function') return call.proceed()
    const noted = (error: unknown, descriptor: unknown): void => {
      if (error === null || error === undefined) remember(descriptor, call.given[0])
      Reflect.apply(callback as Callable, undefined, [error, descriptor])
    }
    const given = [...call.given.slice(0, -1), noted]
    return writesIt ? call.proceed(given) : inTurn({ ...call, given })
  })
  for (const name of ['close', 'closeSync'])
    ambient.replace(fs, name, call => {
      if (typeof call.given[0] === 'number') paths.delete(call.given[0])
      return call.proceed()
    })
  for (const name of ['watch', 'watchFile'])
    for (const owner of [fs, fs['promises'] as Properties])
      ambient.replace(owner, name, call => {
        call.recording.effect('watch', subjectOf(call.given[0]))
        return call.proceed()
      })
  ambient.replace(fs['promises'] as Properties, 'open', call => {
    const writesIt = noteOpen(call)
    const result = writesIt ? call.proceed() : inTurn(call)
    observe(
      result,
      handle => {
        remember((handle as Properties)['fd'], call.given[0])
        installHandle(handle as object)
      },
      () => {},
    )
    return result
  })

  function installHandle(handle: object): void {
    const prototype = Reflect.getPrototypeOf(handle)
    if (handlePrototype !== undefined || prototype === null) return
    handlePrototype = prototype
    for (const name of handleWrites)
      ambient.replace(prototype, name, call => {
        call.recording.effect('file', pathOf((call.receiver as Properties)['fd']) ?? 'file handle')
        return call.proceed()
      })
  }
}

function observe(promise: unknown, ok: (value: unknown) => void, fail: (reason: unknown) => void): void {
  captured.realm.execute(() => promise, undefined, ok, fail)
}

/** `r` and its kin open without changing anything. */
function opensForWriting(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & 3) !== 0 || (flags & captured.createFlags) !== 0
  return typeof flags === 'string' && !/^(?:r|rs|sr)$/.test(flags)
}
