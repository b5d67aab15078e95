/**
 * What programs call: `tools` and the other namespaces of the request, `capabilities`, `code`, `repl`, `outrigger`. All of it belongs to the cell: a
 * function that is kept beyond its end refuses. Calls are carried out by the parent.
 */
import type { Captured } from './captured.ts'
import type { Channel } from './channel.ts'
import type { CellContext } from './context.ts'
import { NotJson, plainJson } from './plain-json.ts'
import type { ToWorker } from './protocol.ts'
import type { Recording } from './recording/recording.ts'

declare const captured: Captured

/** Namespaces of the engine itself, whoever asks. */
const ownMembers: Readonly<Record<string, readonly string[]>> = {
  capabilities: ['tree', 'find', 'inspect'],
  code: ['run'],
  repl: ['state', 'history', 'page'],
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code?: string }

interface Waiting {
  readonly cell: number
  readonly name: string
  readonly namespace: string
  readonly recording: Recording
  /** Among the calls of its cell. */
  readonly number: number
  resolve(value: unknown): void
  reject(reason: unknown): void
}

export interface Calls {
  /** Names that no cell may declare. */
  readonly reserved: ReadonlySet<string>
  /** The namespaces of the request; `undefined` keeps the ones of before. */
  offer(namespaces: Readonly<Record<string, readonly string[]>> | undefined): void
  settle(message: Extract<ToWorker, { t: 'settle' }>): void
  /** The cell has ended: what it still waits for is rejected. */
  endLease(context: CellContext): void
  /** A rejection that only says that a lease has ended; that nobody handled it is no news. */
  isExpiry(reason: unknown): boolean
}

/** @param guard - the recording of code that belongs to no cell. */
export function createCalls(channel: Channel, current: () => CellContext | undefined, guard: Recording): Calls {
  const { realm } = captured
  const prototypes = {
    object: (captured.global as { Object: { prototype: object } }).Object.prototype,
    array: (captured.global as { Array: { prototype: object } }).Array.prototype,
  }
  const waiting = new Map<number, Waiting>()
  const expiries = new WeakSet<object>()
  const objects = new WeakMap<CellContext, Map<string, object>>()
  let offered: Readonly<Record<string, readonly string[]>> = { tools: [] }
  let installed: string[] = []
  let last = 0

  const expired = (name: string, context: CellContext) =>
    realm.makeError(
      'Error',
      `${name} belongs to cell ${context.cell}, which has ended; use ${name.split('.')[0]} in a cell that runs.`,
      { code: 'OUT-L001' },
    )

  function call(context: CellContext, namespace: string, member: string, given: readonly unknown[]): unknown {
    const name = `${namespace}.${member}`
    return realm.makePromise((resolve, reject) => {
      if (context.ended) return reject(expired(name, context))
      let args: unknown[]
      try {
        args = argumentsOf(name, given)
      } catch (error) {
        if (!(error instanceof NotJson)) throw error
        return reject(realm.makeError('TypeError', `${name}: ${error.message}`, { code: 'OUT-P001' }))
      }
      const { recording } = context
      const number = recording.newCall()
      if (recording.isReplay) {
        answerAgain(recording, number, { name, namespace, member, args, resolve, reject, cell: context.cell })
        return
      }
      const id = ++last
      waiting.set(id, { cell: context.cell, name, namespace, recording, number, resolve, reject })
      channel.send({ t: 'call', cell: context.cell, call: id, namespace, member, arguments: args })
    })
  }

  /** As it went then; nobody is asked. */
  function answerAgain(
    recording: Recording,
    number: number,
    asked: Omit<Waiting, 'recording' | 'number'> & { readonly member: string; readonly args: unknown[] },
  ): void {
    const { name, namespace, member, args, cell, resolve, reject } = asked
    const outcome = recording.transcript(number, namespace, member, args)?.outcome
    if (outcome === undefined) return
    const again = { cell, name, namespace, recording, number, resolve, reject }
    recording.hold('c', number, () => conclude(again, number, outcome))
  }

  function conclude(call: Waiting, id: number, outcome: Outcome): void {
    const { namespace, name } = call
    if (outcome.ok) call.resolve(realm.parseJson(JSON.stringify(outcome.value ?? null)))
    else if (outcome.code !== undefined) call.reject(realm.makeError('TypeError', outcome.message, { code: outcome.code }))
    else if (namespace === 'code') call.reject(realm.makeError('CodeExecutionError', outcome.message))
    else {
      const toolName = name.slice(namespace.length + 1)
      call.reject(realm.makeError('ToolCallError', outcome.message, { toolName, namespace, call: id }))
    }
  }

  function argumentsOf(name: string, given: readonly unknown[]): unknown[] {
    const length = Object.getOwnPropertyDescriptor(given, 'length')!.value as number
    if (length > 1 && !name.startsWith('repl.')) throw new NotJson('arguments', `takes one object, not ${length} values`)
    const args: unknown[] = []
    for (let i = 0; i < Math.min(length, 4); i++) {
      const value = Object.getOwnPropertyDescriptor(given, i)?.value as unknown
      args.push(plainJson(value, i === 0 ? 'arguments' : `argument ${i + 1}`, prototypes))
    }
    return args
  }

  function namespaceOf(context: CellContext, name: string): object {
    let made = objects.get(context)
    if (made === undefined) objects.set(context, (made = new Map()))
    let object = made.get(name)
    if (object === undefined) made.set(name, (object = makeNamespace(context, name)))
    return object
  }

  function makeNamespace(context: CellContext, name: string): object {
    if (name === 'outrigger') {
      const parts = [...new Set([...Object.keys(ownMembers), ...Object.keys(offered)])]
      return realm.makeNamespace([
        ...parts.map((part): [string, unknown] => [part, namespaceOf(context, part)]),
        ['ToolCallError', realm.classes.ToolCallError],
        ['CodeExecutionError', realm.classes.CodeExecutionError],
      ])
    }
    const members = Object.hasOwn(offered, name) ? offered[name]! : (ownMembers[name] ?? [])
    return realm.makeNamespace(
      members.map(member => [member, realm.makeFunction(member, given => call(context, name, member, given))]),
    )
  }

  /** The namespace as whoever asks may use it: of the cell whose code runs. */
  const outside: CellContext = { cell: 0, printedUnits: 0, ended: true, refusedExit: undefined, recording: guard }
  const define = (name: string, writable: boolean): void => {
    Object.defineProperty(captured.global, name, {
      configurable: true,
      enumerable: false,
      get: realm.makeFunction(name, () => namespaceOf(current() ?? outside, name)) as () => unknown,
      ...(writable && {
        set: realm.makeFunction(name, given => {
          Object.defineProperty(captured.global, name, { value: given[0], configurable: true, enumerable: true, writable: true })
        }) as (value: unknown) => void,
      }),
    })
  }
  for (const name of Object.keys(ownMembers)) define(name, true)
  define('outrigger', false)
  define('tools', false)
  installed = ['tools']
  for (const [name, value] of Object.entries(realm.classes))
    Object.defineProperty(captured.global, name, { value, configurable: true, enumerable: false, writable: true })

  const reserved = new Set(['tools', 'outrigger'])
  return {
    reserved,
    offer: namespaces => {
      if (namespaces === undefined) return
      offered = namespaces
      for (const name of installed)
        if (!Object.hasOwn(namespaces, name) && name !== 'tools') delete (captured.global as Record<string, unknown>)[name]
      reserved.clear()
      for (const name of ['tools', 'outrigger', ...Object.keys(namespaces)]) reserved.add(name)
      const added = Object.keys(namespaces).filter(name => !installed.includes(name) && !Object.hasOwn(ownMembers, name))
      for (const name of added) define(name, false)
      installed = Object.keys(namespaces)
    },
    settle: message => {
      const call = waiting.get(message.call)
      if (call === undefined) return
      waiting.delete(message.call)
      call.recording.delivered('c', call.number)
      conclude(call, message.call, message)
    },
    endLease: context => {
      context.ended = true
      for (const [id, call] of waiting) {
        if (call.cell !== context.cell) continue
        waiting.delete(id)
        const expiry = realm.makeError(
          'Error',
          `${call.name} was still running when cell ${context.cell} ended and was cancelled.`,
          { code: 'OUT-L001' },
        )
        expiries.add(expiry)
        call.reject(expiry)
      }
    },
    isExpiry: reason => typeof reason === 'object' && reason !== null && expiries.has(reason),
  }
}
