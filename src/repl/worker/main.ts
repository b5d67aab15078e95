/**
 * The child process that runs cells: takes what the engine needs of this realm, makes a context of its own for the engine, and starts it there. Nothing
 * of a cell runs before `start` has returned.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import * as fs from 'node:fs'
import { createRequire, isBuiltin, registerHooks, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { join, resolve, sep } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect, types } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { constants, createContext, Script } from 'node:vm'
import type { Captured } from './captured.ts'
import { mainRealm } from './main-realm.ts'

const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect
// Taken as they are: what cells have in their place is recorded.
const {
  constants: fileFlags,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  lstatSync,
  writeFileSync,
  writeSync,
} = fs
const filePathOf = fileURLToPath
const fileUrlOf = pathToFileURL
const syncExports = syncBuiltinESMExports
const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
const { encodeInto } = TextEncoder.prototype
const { decode } = TextDecoder.prototype
const { byteLength, from: bufferFrom, isBuffer } = Buffer
const { toString: bufferText } = Buffer.prototype
const { now: dateNow } = Date
const { snapshot } = AsyncLocalStorage
const { setImmediate: later, setTimeout: after, process: own } = globalThis
const { chdir, cwd, hrtime, kill, reallyExit, memoryUsage, getActiveResourcesInfo, getBuiltinModule } = own as typeof process & {
  reallyExit(code: number): never
}
const { rss } = memoryUsage
const { now, eventLoopUtilization } = performance
const { pid, versions } = own
const hrefOf = getOwnPropertyDescriptor(URL.prototype, 'href')!.get as (this: unknown) => string

/** Loaded when something is hashed or drawn: few cells need it, and it takes a while. */
let cryptoModule: typeof import('node:crypto') | undefined
let hashing:
  | {
      readonly createHash: typeof import('node:crypto').createHash
      readonly randomBytes: typeof import('node:crypto').randomBytes
    }
  | undefined
function crypto(): NonNullable<typeof hashing> {
  if (hashing !== undefined) return hashing
  cryptoModule = apply(getBuiltinModule, own, ['crypto']) as typeof import('node:crypto')
  const { createHash, randomBytes } = cryptoModule
  return (hashing = { createHash, randomBytes })
}

/** The platform's own functions use ones that were replaced; what the engine asks of it is not recorded. */
let isOwn = false
function quietly<T>(run: () => T): T {
  const before = isOwn
  isOwn = true
  try {
    return run()
  } finally {
    isOwn = before
  }
}

function wrapFunction(
  original: object,
  handle: (given: readonly unknown[], receiver: unknown, target: object | undefined) => unknown,
): object {
  const isConstructor = getOwnPropertyDescriptor(original, 'prototype') !== undefined
  const call = original as (...given: unknown[]) => unknown
  const made: object = isConstructor
    ? function (this: unknown, ...given: unknown[]) {
        return isOwn && new.target === undefined ? apply(call, this, given) : handle(given, this, new.target)
      }
    : {
        method(this: unknown, ...given: unknown[]) {
          return isOwn ? apply(call, this, given) : handle(given, this, undefined)
        },
      }.method
  const keys = ownKeys(original)
  for (let i = 0; i < keys.length; i++) {
    const own = getOwnPropertyDescriptor(original, keys[i]!)!
    // A getter may have to lead to a replacement, too.
    if (own.get !== undefined) own.configurable = true
    defineProperty(made, keys[i]!, own)
  }
  setPrototypeOf(made, getPrototypeOf(original))
  return made
}
const cells = new AsyncLocalStorage<unknown>()
const { run, getStore } = AsyncLocalStorage.prototype
const { runInContext } = Script.prototype

/** Wait a moment without a timer; for a pipe whose reader is slow. */
const pause = new Int32Array(new SharedArrayBuffer(4))
const { wait } = Atomics

function writeAll(descriptor: number, bytes: Uint8Array): void {
  let at = 0
  while (at < bytes.length) {
    try {
      at += writeSync(descriptor, bytes, at, bytes.length - at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      wait(pause, 0, 0, 1)
    }
  }
}

/** As `path.join`, which calls methods of arrays that a cell can replace. */
function under(folder: string, name: string): string {
  return folder[folder.length - 1] === sep ? folder + name : folder + sep + name
}

function endGroup(): never {
  try {
    if (own.platform !== 'win32') apply(kill, own, [-pid, 'SIGKILL'])
  } catch {
    // Not the leader of a group.
  }
  return apply(reallyExit, own, [0]) as never
}

/**
 * A script that a signal can break off has a thread that waits for the signal. Where Node lets the thread be kept, not every cell starts one of its own;
 * then the signal does nothing between cells either. A listener of a cell takes the signal over, so with the first of them this ends.
 */
function keepWatching(): void {
  const ignore = (): void => void own.on('SIGINT', () => {})
  try {
    const { binding } = own as unknown as {
      binding?(name: string): { startSigintWatchdog?(): void; stopSigintWatchdog?(): void }
    }
    const { startSigintWatchdog: start, stopSigintWatchdog: stop } = apply(binding!, own, ['contextify']) as {
      startSigintWatchdog(): void
      stopSigintWatchdog(): void
    }
    if (typeof stop !== 'function') throw new TypeError('it could not be given back')
    start()
    const release = (event: string | symbol): void => {
      if (event !== 'SIGINT') return
      own.off('newListener', release)
      stop()
      ignore()
    }
    own.on('newListener', release)
  } catch {
    ignore()
  }
}

let compiler: Readonly<Record<string, unknown>> | undefined

function loadCompiler(): { readonly exports: { readonly packages: Readonly<Record<string, unknown>> }; readonly script: Script } {
  return loadScript('worker-compiler.cjs', createRequire(__filename))
}

const captured: Captured = {
  global: globalThis,
  realm: mainRealm,
  pristineNames: Object.getOwnPropertyNames(globalThis),
  modules: { util: { types: { ...types }, inspect } },
  Script,
  mainLoader: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER as unknown as symbol,
  setFlags: flags => setFlagsFromString(flags),
  encodeInto: (text, into) => apply(encodeInto, textEncoder, [text, into]) as { read: number; written: number },
  decodeUtf8: bytes => apply(decode, textDecoder, [bytes]) as string,
  decodeStrict: bytes => apply(decode, strictDecoder, [bytes]) as string,
  byteLength: text => byteLength(text),
  isBuffer: value => isBuffer(value),
  bufferPoolSize: Buffer.poolSize,
  writeAll,
  readChannel: (descriptor, into, take, end) => {
    const socket = new Socket({
      fd: descriptor,
      readable: true,
      writable: false,
      onread: {
        buffer: Buffer.from(into),
        callback: count => {
          take(count)
          return true
        },
      },
    })
    socket.on('end', end).on('close', end).on('error', end)
    socket.resume()
  },
  setImmediate: task => void later(task),
  setTimeout: (task, ms) => void after(task, ms),
  now: () => apply(now, performance, []) as number,
  activeMs: () => quietly(() => (apply(eventLoopUtilization, performance, []) as { active: number }).active),
  residentMb: () => (apply(rss, memoryUsage, []) as number) / 1024 / 1024,
  cwd: () => apply(cwd, own, []) as string,
  exit: () => apply(reallyExit, own, [0]) as never,
  endGroup,
  removeFolder: path => {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // Best effort; the system cleans its temporary folder.
    }
  },
  activeResources: () => apply(getActiveResourcesInfo, own, []) as string[],
  runWith: (context, task) => apply(run, cells, [context, task]) as never,
  context: () => apply(getStore, cells, []),
  onProblem: (uncaught, rejection) => {
    own.setUncaughtExceptionCaptureCallback(uncaught)
    own.on('unhandledRejection', (reason, promise) => rejection(reason, promise))
    keepWatching()
  },
  hookModules: ({ ask, link, resolved, loaded }) => {
    registerHooks({
      resolve: (specifier, context, next) => {
        if (link(specifier) !== undefined) return { url: specifier, format: 'module', shortCircuit: true }
        ask(specifier)
        const found = next(specifier, context)
        resolved(specifier, context.parentURL, found.url)
        return found
      },
      load: (url, context, next) => {
        const source = link(url)
        if (source !== undefined) return { format: 'module', source, shortCircuit: true }
        loaded(url)
        return next(url, context)
      },
    })
    own.getBuiltinModule = mainRealm.makeFunction('getBuiltinModule', given => {
      ask(`${given[0] as string}`)
      return apply(getBuiltinModule, own, given as [string])
    }) as typeof own.getBuiltinModule
  },
  wrapFunction,
  timerClasses: () => {
    const timeout = after(() => {}, 1)
    const immediate = later(() => {})
    clearTimeout(timeout)
    clearImmediate(immediate)
    return { Timeout: timeout.constructor, Immediate: immediate.constructor }
  },
  isBuiltin: specifier => isBuiltin(specifier),
  builtin: name => {
    // Its functions are taken before they are replaced.
    if (name === 'node:crypto') crypto()
    return apply(getBuiltinModule, own, [name])
  },
  syncBuiltinExports: () => syncExports(),
  snapshot: () => snapshot() as (run: () => void) => void,
  sha256: of => crypto().createHash('sha256').update(of).digest('hex'),
  randomBytes: count => crypto().randomBytes(count),
  randomHex: digits => apply(bufferText, crypto().randomBytes(digits / 2), ['hex']) as string,
  toBase64: bytes =>
    apply(bufferText, bufferFrom(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength), ['base64']) as string,
  fromBase64: text => bufferFrom(text, 'base64'),
  dateNow: () => dateNow(),
  hrtime: () => {
    const [seconds, nanoseconds] = apply(hrtime, own, []) as [number, number]
    return seconds * 1_000_000 + Math.floor(nanoseconds / 1_000)
  },
  files: {
    stat: (path, follow) => {
      const found = follow ? statSync(path) : lstatSync(path)
      const { size, mode, mtimeMs, ctimeMs, ino } = found
      return { size, mode, mtimeMs, ctimeMs, ino, isFile: found.isFile(), isDirectory: found.isDirectory() }
    },
    read: path => readFileSync(path),
    list: (path, deep) => {
      const entries = readdirSync(path, { withFileTypes: true, recursive: deep })
      let names = ''
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[i]!
        names += `${entry.parentPath}${sep}${entry.name}${entry.isDirectory() ? sep : ''}\0`
      }
      return names
    },
    target: path => {
      let link = ''
      try {
        link = readlinkSync(path)
      } catch {
        // No link.
      }
      return `${link} ${realpathSync(path)}`
    },
  },
  pathOf: given => {
    if (typeof given === 'string') return resolve(given)
    if (isBuffer(given)) return resolve(apply(bufferText, given, []) as string)
    if (typeof given !== 'object' || given === null) return undefined
    try {
      return filePathOf(apply(hrefOf, given, []) as string)
    } catch {
      return undefined // no URL, or none of a file
    }
  },
  filePathOf: url => filePathOf(url),
  textOfUrl: object => {
    try {
      return apply(hrefOf, object, []) as string
    } catch {
      // A request, whose getter is of the platform.
    }
    const of = getPrototypeOf(object)
    const get = of === null || types.isProxy(of) ? undefined : getOwnPropertyDescriptor(of, 'url')?.get
    try {
      return get === undefined ? undefined : `${apply(get, object, []) as string}`
    } catch {
      return undefined
    }
  },
  createFlags: fileFlags.O_CREAT | fileFlags.O_TRUNC | fileFlags.O_APPEND,
  ownFile: __filename,
  changeDirectory: path => void apply(chdir, own, [path]),
  guardProcess: refuse => {
    const guards: Record<string, (given: readonly unknown[]) => unknown> = {
      exit: () => refuse('process.exit'),
      reallyExit: () => refuse('process.reallyExit'),
      abort: () => refuse('process.abort'),
      kill: given => {
        const target = Number(given[0])
        const isSelf = target === pid || target === 0 || target === -pid || target === -1
        return isSelf && given[1] !== 0 ? refuse('process.kill') : apply(kill, own, given as [number, string])
      },
    }
    for (const name in guards) {
      Object.defineProperty(own, name, {
        value: mainRealm.makeFunction(name, guards[name]!),
        configurable: true,
        enumerable: true,
        writable: true,
      })
    }
  },
  linkUrl: name => fileUrlOf(under(apply(cwd, own, []) as string, name)).href,
  requireAt: folder => createRequire(under(folder, 'cell.cjs')),
  folderUrl: folder => fileUrlOf(under(folder, 'cell.ts')).href,
  compiler: name => (compiler ??= loadCompiler().exports.packages)[name],
  joinPath: under,
  resolveFrom: (folder, specifier) => {
    if (isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`
    if (/^\.{0,2}\/|^[a-z][a-z\d+.-]*:/i.test(specifier)) return new URL(specifier, fileUrlOf(under(folder, 'cell.ts'))).href
    return fileUrlOf(createRequire(under(folder, 'cell.cjs')).resolve(specifier)).href
  },
  versions: { node: versions.node, v8: versions.v8, icu: versions.icu ?? '' },
  pid,
}

/** Modules that our own scripts ask for, as they are before a cell runs. */
const modules: Readonly<Record<string, unknown>> = { 'node:util': captured.modules.util }

const context = createContext(constants.DONT_CONTEXTIFY)
const isWriting = own.argv[2] === '--write-compiled'

/** Runs one of our scripts in the engine's context. V8's compiled form of it lies beside it, for the version that made it. */
function loadScript<T>(name: string, require: (name: string) => unknown): { readonly exports: T; readonly script: Script } {
  const file = join(__dirname, name)
  let cachedData: Buffer | undefined
  try {
    if (!isWriting) cachedData = readFileSync(`${file}.v8`)
  } catch {
    // Never made here; the text says the same.
  }
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: `outrigger:${name}`,
    ...(cachedData !== undefined && { cachedData }),
  })
  const load = apply(runInContext, script, [context]) as (
    module: { exports: T },
    exports: T,
    require: (name: string) => unknown,
    captured: Captured,
    process: unknown,
  ) => void
  const module = { exports: {} as T }
  load(module, module.exports, require, captured, {
    env: {},
    platform: own.platform,
    versions,
    argv: [],
    cwd: captured.cwd,
    stdout: {},
    stderr: {},
  })
  return { exports: module.exports, script }
}

const engine = loadScript<{ start(context: object): void; warm(): void }>('worker-engine.cjs', name => modules[name])
if (isWriting) {
  engine.exports.warm()
  writeFileSync(join(__dirname, 'worker-engine.cjs.v8'), engine.script.createCachedData())
  const { script } = loadCompiler()
  writeFileSync(join(__dirname, 'worker-compiler.cjs.v8'), script.createCachedData())
} else engine.exports.start(context)
