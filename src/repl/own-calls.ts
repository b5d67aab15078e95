/** What programs ask of the REPL itself: `capabilities.*`, `code.run`, `repl.*`; and the checks before a tool is called. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { find, inspect, type Namespaces, tree } from './capabilities.ts'
import type { CallAnswer, KernelCall, KernelOptions } from './kernel.ts'
import { runNested } from './nested.ts'
import { acceptsNothing, faultOfArguments } from './tool-arguments.ts'
import type { PageQuery, ReplConfig, ReplSession, RunOptions } from './types.ts'

export interface CellCalls {
  readonly cell: number
  readonly offered: Namespaces
  readonly options: RunOptions
}

export interface OwnCallParts {
  readonly session: Pick<ReplSession, 'history' | 'page'>
  config(): ReplConfig
  nestedKernel(): KernelOptions
  /** How deep this session is inside `code.run`. */
  readonly depth: number
  /** Before a call leaves. */
  sent(cell: number, call: KernelCall, args: Json): Promise<void>
  /** `repl.state`: answers at once, what changes something takes effect after the cell. */
  state(given: { readonly [key: string]: Json }): Promise<CallAnswer>
}

export interface OwnCalls {
  /** Carry out a call of a program; never throws for what the program did wrong. */
  answer(call: KernelCall, cell: CellCalls): Promise<CallAnswer>
}

export function createOwnCalls(parts: OwnCallParts): OwnCalls {
  async function answer(call: KernelCall, of: CellCalls): Promise<CallAnswer> {
    if (Object.hasOwn(of.offered, call.namespace)) return outward(call, of)
    try {
      return await own(call, of)
    } catch (error) {
      if (error instanceof OutriggerError) return { ok: false, message: `${error.code}: ${error.message}` }
      throw error
    }
  }

  async function outward(call: KernelCall, { cell, offered, options }: CellCalls): Promise<CallAnswer> {
    const { namespace, member } = call
    const name = `${namespace}.${member}`
    const declaration = offered[namespace]!.find(each => each.name === member)
    let args = call.arguments[0]
    if (args === undefined) {
      if (!acceptsNothing(declaration?.parameters)) {
        const fault = faultOfArguments(declaration?.parameters, {})
        return { ok: false, code: 'OUT-P001', message: `${name}: ${fault ?? 'arguments are required'}` }
      }
      args = {}
    }
    const fault = faultOfArguments(declaration?.parameters, args)
    if (fault !== undefined) return { ok: false, code: 'OUT-P001', message: `${name}: ${fault}` }
    const carry = options.call
    if (carry === undefined) return { ok: false, message: `${name} cannot be called here: nobody carries out calls` }
    await parts.sent(cell, call, args)
    if (call.signal.aborted) return { ok: false, message: 'cancelled' }
    return carry({ cell, call: call.call, namespace, name: member, arguments: args, signal: call.signal })
  }

  async function own({ namespace, member, arguments: args, signal }: KernelCall, of: CellCalls): Promise<CallAnswer> {
    const given = isRecord(args[0]) ? args[0] : {}
    switch (`${namespace}.${member}`) {
      case 'capabilities.tree':
        return { ok: true, value: tree(of.offered) }
      case 'capabilities.find':
        return { ok: true, value: find(of.offered, typeof args[0] === 'string' ? args[0] : String(given['query'] ?? '')) }
      case 'capabilities.inspect':
        return inspectSymbols(of.offered, args[0])
      case 'code.run': {
        const { code } = given
        if (typeof code !== 'string')
          return { ok: false, code: 'OUT-P001', message: 'code.run: arguments.code is required (string)' }
        return nested(code, parts.depth + 1, of, signal)
      }
      case 'repl.history':
        return {
          ok: true,
          value: (await parts.session.history({
            ...(typeof given['limit'] === 'number' && { limit: given['limit'] }),
          })) as unknown as Json,
        }
      case 'repl.page': {
        const handle = typeof args[0] === 'string' ? args[0] : String(given['handle'] ?? '')
        const more = isRecord(args[1]) ? args[1] : given
        return { ok: true, value: (await parts.session.page({ ...more, handle } as PageQuery)) as unknown as Json }
      }
      case 'repl.state':
        return parts.state(given)
      default:
        return { ok: false, message: `there is no ${namespace}.${member}` }
    }
  }

  function nested(code: string, depth: number, of: CellCalls, signal: AbortSignal): Promise<CallAnswer> {
    const config = parts.config()
    if (depth > config.maxNestedRuns)
      return Promise.resolve({ ok: false, message: `programs may run programs ${config.maxNestedRuns} deep` })
    return runNested({
      code,
      kernel: parts.nestedKernel(),
      config,
      namespaces: membersOf(of.offered),
      signal,
      call: inner => {
        if (inner.namespace === 'code' && inner.member === 'run') {
          const asked = inner.arguments[0]
          return nested(isRecord(asked) ? String(asked['code'] ?? '') : '', depth + 1, of, inner.signal)
        }
        if (inner.namespace === 'repl')
          return Promise.resolve({ ok: false, message: 'a nested program has no session of its own' })
        return answer(inner, of)
      },
    })
  }

  return { answer }
}

export function membersOf(offered: Namespaces): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(offered).map(([name, list]) => [name, list.map(each => each.name)]))
}

function inspectSymbols(offered: Namespaces, given: Json | undefined): CallAnswer {
  const asked = isRecord(given) ? given['symbols'] : given
  const symbols = (Array.isArray(asked) ? asked : [asked]).filter((each): each is string => typeof each === 'string')
  if (symbols.length === 0)
    return { ok: false, code: 'OUT-P001', message: 'capabilities.inspect: arguments.symbols is required (array)' }
  const budget = isRecord(given) && typeof given['budget'] === 'number' ? Math.max(1, Math.min(200, given['budget'])) : 50
  return { ok: true, value: inspect(offered, symbols, budget) }
}

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
