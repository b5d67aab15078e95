/** What was thrown, described without running any code of it: own and inherited data properties only, no getters, no proxies. */
import { type MappedStack, readableMessage } from '../compile/frames.ts'
import type { Captured } from './captured.ts'
import type { Failure } from './protocol.ts'

declare const captured: Captured

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect
const maxMessage = 4_000
const maxCauses = 16
const nowhere: MappedStack = { position: undefined, frames: [] }

export interface FailureReader {
  /** Frames in cells, and the topmost in the cell asked for. */
  mapStack(stack: string): MappedStack
  /** A bounded text of any value. */
  preview(value: unknown): string
}

export function describeFailure(thrown: unknown, { mapStack, preview }: FailureReader): Failure {
  const types = captured.modules.util.types
  const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function'
  const isError =
    isObject &&
    !types.isProxy(thrown) &&
    (types.isNativeError(thrown) || dataOf(thrown, 'stack') !== undefined) &&
    typeof dataOf(thrown, 'message') === 'string'
  const stack = isObject && !types.isProxy(thrown) ? stackOf(thrown) : undefined
  // A message can be megabytes long; frames stand at the end, the name of the error at the start.
  const { position, frames } =
    stack === undefined ? nowhere : mapStack(stack.length <= 40_000 ? stack : `${stack.slice(0, 1_000)}\n${stack.slice(-20_000)}`)
  const place = { frames, ...(position !== undefined && { position }) }
  if (!isError) return { name: 'Thrown', message: clip(preview(thrown)), ...place }
  const object = thrown as object
  const code = dataOf(object, 'code')
  const toolName = dataOf(object, 'toolName')
  const namespace = dataOf(object, 'namespace')
  const call = dataOf(object, 'call')
  const causes = causesOf(object, preview)
  return {
    ...(typeof code === 'string' && /^OUT-[A-Z]\d{3}$/.test(code) && { code }),
    name: nameOf(object),
    message: readableMessage(clip(dataOf(object, 'message') as string)),
    ...place,
    ...(causes.length > 0 && { causes }),
    ...(typeof toolName === 'string' &&
      typeof call === 'number' && {
        tool: { name: typeof namespace === 'string' ? `${namespace}.${toolName}` : toolName, call },
      }),
  }
}

/** A data property of the object or its prototypes; `undefined` for accessors, and behind a proxy. */
export function dataOf(object: object, name: string): unknown {
  for (let at: object | null = object, depth = 0; at !== null && depth < 100; at = getPrototypeOf(at), depth++) {
    if (captured.modules.util.types.isProxy(at)) return undefined
    const own = getOwnPropertyDescriptor(at, name)
    if (own === undefined) continue
    if ('value' in own) return own.value
    return name === 'stack' && own.get !== undefined && own.get === captured.realm.stackGetter ? '' : undefined
  }
  return undefined
}

function nameOf(object: object): string {
  const name = dataOf(object, 'name')
  return typeof name === 'string' && name !== '' ? clip(name, 200) : 'Error'
}

function stackOf(thrown: object): string | undefined {
  const stack = captured.realm.readStack(thrown)
  return typeof stack === 'string' ? stack : undefined
}

function causesOf(error: object, preview: (value: unknown) => string): string[] {
  const causes: string[] = []
  const seen = new Set<unknown>([error])
  const add = (value: unknown): void => {
    if (causes.length >= maxCauses || seen.has(value)) return
    seen.add(value)
    const isObject = typeof value === 'object' && value !== null && !captured.modules.util.types.isProxy(value)
    const message = isObject ? dataOf(value, 'message') : undefined
    const text = typeof message === 'string' ? `${nameOf(value as object)}: ${message}` : preview(value)
    causes.push(readableMessage(clip(text, 1_000)))
    if (isObject) walk(value)
  }
  const walk = (object: object): void => {
    const own = getOwnPropertyDescriptor(object, 'cause')
    if (own !== undefined && 'value' in own) add(own.value)
    const errors = getOwnPropertyDescriptor(object, 'errors')?.value as unknown
    if (!Array.isArray(errors) || captured.modules.util.types.isProxy(errors)) return
    const length = Math.min(errors.length, maxCauses)
    for (let i = 0; i < length; i++) {
      const element = getOwnPropertyDescriptor(errors, i)
      if (element !== undefined && 'value' in element) add(element.value)
    }
  }
  walk(error)
  return causes
}

function clip(text: string, max = maxMessage): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}
