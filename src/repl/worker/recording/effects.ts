/** What touches the outside besides files: processes, sockets, names, workers, native code. One row a function. */
import type { Captured } from '../captured.ts'
import { type Ambient, type Call, isCalledByFetch, isCalledByPlatform } from './ambient.ts'

declare const captured: Captured

type Properties = Record<string, unknown>
type Subject = (call: Call) => string | undefined

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const first: Subject = ({ given }) => text(given[0])
const none: Subject = () => undefined

function each(ambient: Ambient, owner: unknown, kind: string, names: string, subject: Subject = none): void {
  for (const name of names.split(' '))
    ambient.replace(owner as object | undefined, name, call => {
      call.recording.effect(kind, subject(call))
      return call.proceed()
    })
}

const prototypeOf = (owner: Properties, name: string): object | undefined =>
  (owner[name] as { prototype?: object } | undefined)?.prototype

/** `host:port` or a path, of the many ways to say where to. */
function endpoint({ given }: Call): string | undefined {
  const [head] = given
  const options = Array.isArray(head) ? (head[0] as unknown) : head
  if (typeof options === 'object' && options !== null) {
    const { path, host, port } = options as Properties
    return text(path) ?? `${text(host) ?? 'localhost'}:${String(port)}`
  }
  if (typeof options === 'string' && Number.isNaN(Number(options))) return options
  return `${text(given[1]) ?? 'localhost'}:${String(options)}`
}

const originOf: Subject = ({ given }) => {
  const [target] = given
  const url = text(target) ?? (typeof target === 'object' && target !== null ? captured.textOfUrl(target) : undefined)
  return url === undefined
    ? undefined
    : (/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? url.slice(0, 40)).replace(/\/\/[^@]*@/, '//')
}

/** By module; each once, when a cell first asks for it. */
export const effectModules: Readonly<Record<string, (ambient: Ambient, module: Properties) => void>> = {
  child_process: (ambient, module) => {
    each(ambient, module, 'process', 'exec execSync execFile execFileSync fork spawn spawnSync', first)
    each(ambient, prototypeOf(module, 'ChildProcess'), 'process', 'spawn', ({ given }) =>
      text((given[0] as Properties | undefined)?.['file']),
    )
    each(ambient, prototypeOf(module, 'ChildProcess'), 'process', 'kill send', none)
  },
  net: (ambient, module) => {
    ambient.replace(prototypeOf(module, 'Socket'), 'connect', call => {
      // `fetch` has told it already.
      if (!isCalledByFetch()) call.recording.effect('socket', endpoint(call))
      return call.proceed()
    })
    each(ambient, prototypeOf(module, 'Server'), 'socket', 'listen', call =>
      `listen ${endpoint(call) ?? ''}`.replace('localhost:', ':'),
    )
  },
  dgram: (ambient, module) => each(ambient, prototypeOf(module, 'Socket'), 'socket', 'bind send connect', none),
  dns: (ambient, module) => {
    const names =
      'lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse'
    const promises = module['promises'] as Properties | undefined
    for (const owner of [module, prototypeOf(module, 'Resolver'), promises, promises && prototypeOf(promises, 'Resolver')])
      each(ambient, owner, 'dns', names, first)
  },
  worker_threads: (ambient, module) => {
    ambient.replaceClass(module, 'Worker', call => {
      call.recording.effect(
        'worker',
        text(call.given[0]) ?? (call.given[0] === undefined ? undefined : captured.textOfUrl(call.given[0] as object)),
      )
      return call.proceed()
    })
  },
  sqlite: (ambient, module) => {
    for (const name of ['DatabaseSync'])
      ambient.replaceClass(module, name, call => {
        if (call.given[0] !== ':memory:') call.recording.effect('database', text(call.given[0]))
        return call.proceed()
      })
    each(ambient, module, 'database', 'backup', none)
  },
  vm: (ambient, module) => {
    // Its clocks and random numbers are another realm's.
    each(ambient, module, 'realm', 'createContext runInNewContext', none)
    each(ambient, prototypeOf(module, 'Script'), 'realm', 'runInNewContext', none)
  },
  v8: (ambient, module) => {
    each(ambient, module, 'process', 'setFlagsFromString setHeapSnapshotNearHeapLimit takeCoverage stopCoverage', first)
    each(ambient, module, 'file', 'writeHeapSnapshot', first)
  },
  wasi: (ambient, module) => each(ambient, prototypeOf(module, 'WASI'), 'process', 'start initialize', none),
  os: (ambient, module) => each(ambient, module, 'process', 'setPriority', none),
}

export function installEffects(ambient: Ambient): void {
  const global = captured.global as Properties
  const process = global['process'] as Properties
  each(ambient, global, 'fetch', 'fetch', originOf)
  each(ambient, process, 'addon', 'dlopen', ({ given }) => text(given[1]))
  each(ambient, process, 'process', 'setuid setgid seteuid setegid setgroups initgroups execve', none)
  each(ambient, process['report'], 'file', 'writeReport', none)
  ambient.replace(
    process,
    'kill',
    call => {
      if (call.given[1] !== 0) call.recording.effect('kill', String(call.given[0]))
      return call.proceed()
    },
    false,
  )
  ambient.replace((global['WeakRef'] as { prototype: object }).prototype, 'deref', call => {
    const { recording } = call
    // The platform uses them inside of what has been told.
    if (recording.hasEffect('gc') || !isCalledByPlatform()) recording.effect('gc', 'WeakRef')
    return call.proceed()
  })
  ambient.replaceClass(global, 'FinalizationRegistry', call => {
    const [callback] = call.given
    if (typeof callback !== 'function') return call.proceed()
    return call.proceed([
      (held: unknown): void => {
        ambient.current()?.effect('gc', 'FinalizationRegistry')
        Reflect.apply(callback, undefined, [held])
      },
    ])
  })
}

/** Made when they are first read, which takes long: replaced when code appears that may name them. */
export const lateGlobals: ReadonlySet<string> = new Set(['WebSocket', 'EventSource', 'BroadcastChannel'])

export function installLateGlobals(ambient: Ambient): void {
  const global = captured.global as Properties
  for (const name of ['WebSocket', 'EventSource'])
    ambient.replaceClass(global, name, call => {
      call.recording.effect('socket', originOf(call))
      return call.proceed()
    })
  ambient.replaceClass(global, 'BroadcastChannel', call => {
    call.recording.effect('worker', text(call.given[0]))
    return call.proceed()
  })
}
