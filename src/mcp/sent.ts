/** What leaves for the client: which answers its pipe has taken, and the protocol's own refusals in words. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js'

/** @param written - told after the answer to that request was written. */
export function watchSent<T extends Transport>(transport: T, written: (id: RequestId) => void): T {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    await send(inWords(message), options)
    if ('result' in message) written(message.id)
  }
  return transport
}

/** The protocol's library calls a request that is not of its form an internal error and gives the issues as JSON: it is the client's. */
function inWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ErrorCode.InternalError) return message
  const field = firstIssue(message.error.message)
  if (field === undefined) return message
  const text = `${field} is not of the form that the protocol has`
  return { ...message, error: { code: ErrorCode.InvalidParams, message: text } }
}

function firstIssue(text: string): string | undefined {
  try {
    const [issue] = JSON.parse(text) as { readonly path?: unknown; readonly code?: unknown }[]
    return Array.isArray(issue?.path) && typeof issue.code === 'string' ? issue.path.join('.') : undefined
  } catch {
    return undefined
  }
}
