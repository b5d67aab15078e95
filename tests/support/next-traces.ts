/** Traces of next-step as people write them down: one event a `;`, behind `→` what it prints. */

export interface TraceStep {
  readonly text: string
  readonly expected: readonly string[]
  readonly line: Readonly<Record<string, unknown>>
}

export interface Trace {
  readonly config: Readonly<Record<string, unknown>>
  readonly steps: readonly TraceStep[]
}

export function parseTrace(trace: string): Trace {
  const head = /^\[([^\]]*)\]\s*/.exec(trace)
  const config: Record<string, unknown> = { model: 'test/m', local: false }
  if (head !== null) Object.assign(config, JSON.parse(`{${head[1]!.replace(/(\w+):/g, '"$1":')}}`))
  let clock = 0
  const steps = trace
    .slice(head?.[0].length ?? 0)
    .split(';')
    .map(part => part.trim())
    .map(part => {
      const [left = '', right = ''] = part.split('→').map(side => side.trim())
      const at = /^@(\d+)\s+/.exec(left)
      clock = at === null ? clock + 100 : Number(at[1])
      const text = at === null ? left : left.slice(at[0].length)
      const expected = right === '' ? [] : right.split(',').map(one => one.trim())
      return { text, expected, line: { clock, ...lineOf(text) } }
    })
  return { config, steps }
}

function lineOf(given: string): Readonly<Record<string, unknown>> {
  const other = /^(\w+)>/.exec(given)
  const process = other === null ? {} : { process: other[1] }
  let text = other === null ? given : given.slice(other[0].length)
  const by = / ~(\w+)$/.exec(text)
  if (by !== null) text = text.slice(0, by.index)
  return { ...process, ...(by !== null && { by: by[1] }), ...eventOf(text) }
}

function value(text: string): unknown {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}

const pairs = (words: readonly string[]) =>
  Object.fromEntries(words.map(word => [word.slice(0, word.indexOf('=')), value(word.slice(word.indexOf('=') + 1))]))

function eventOf(text: string): Readonly<Record<string, unknown>> {
  const [word = '', ...rest] = text.split(/\s+/)
  const after = text.slice(word.length).trim()
  switch (word) {
    case 'arm':
      return { kind: 'command', name: 'arm', ...pairs(rest) }
    case 'run':
      return { kind: 'command', name: 'run', ...(rest[0] !== undefined && { offer: rest[0] }) }
    case 'disarm':
    case 'dismiss':
    case 'off':
    case 'on':
    case 'suggest':
    case 'state':
      return { kind: 'command', name: word }
    case 'end': {
      const match =
        /^(\d+)(?:\s+(aborted|error|max-tokens|blocked|refused|interrupted|completed))?(?:\s+usage=(\d+)\+(\d+))?(?:\s+mark=(\w+))?(?:\s*:\s*([\s\S]*))?$/.exec(
          after,
        )!
      return {
        kind: 'turn-ended',
        turn: Number(match[1]),
        reason: match[2] ?? 'completed',
        answer: match[6] ?? 'Done.',
        ...(match[3] !== undefined && { usage: { input: Number(match[3]), output: Number(match[4]) } }),
        ...(match[5] !== undefined && { mark: match[5] }),
      }
    }
    case 'start':
      return { kind: 'turn-started', turn: Number(rest[0]), by: rest[1] }
    case 'say':
      return { kind: 'person-spoke', text: after === '' ? 'Please wait a moment' : after }
    case 'ok':
      return {
        kind: 'model-answered',
        ask: rest[0],
        text: after
          .slice(rest[0]!.length + 1)
          .replaceAll('\\u202e', '\u202e')
          .replaceAll('\\n', '\n'),
      }
    case 'err':
      return { kind: 'model-failed', ask: rest[0], reason: rest[1] }
    case 'edit':
      return { kind: 'tool-finished', tool: 'edit', written: [rest[0]] }
    case 'look':
      return { kind: 'tool-finished', tool: 'read' }
    case 'sh': {
      const match = /^(ok|bad)\s+([^:]*?)(?:\s+:\s+([\s\S]*))?$/.exec(after)!
      const isOk = match[1] === 'ok'
      return {
        kind: 'tool-finished',
        tool: 'bash',
        input: { command: match[2] },
        ok: isOk,
        exit: isOk ? 0 : 1,
        output: match[3] ?? '',
      }
    }
    case 'starting':
      return { kind: 'turn-starting', offer: rest[0], ...pairs(rest.slice(1)) }
    case 'nosend':
      return { kind: 'submit-failed', offer: rest[0], message: 'queue full' }
    case 'goal': {
      if (rest[0] === 'none') return { kind: 'goal-changed', goal: null, operation: 'clear' }
      const [id, revision, phase, activation, operation] = rest
      return {
        kind: 'goal-changed',
        goal: `Goal ${id}`,
        id,
        revision: Number(revision),
        phase,
        activation,
        ...(operation !== undefined && { operation }),
      }
    }
    case 'work':
      return { kind: 'work-changed', ...pairs(rest) }
    case 'todo':
      return {
        kind: 'todos-changed',
        todos: after.split(',').map(one => ({ state: one.slice(0, one.indexOf(':')), text: one.slice(one.indexOf(':') + 1) })),
      }
    case 'draft':
      return { kind: 'draft-changed', empty: false }
    case 'nodraft':
      return { kind: 'draft-changed', empty: true }
    case 'check':
      return {
        kind: 'check-finished',
        check: rest[0],
        ...(rest[1] === 'timeout' ? { exit: null, timedOut: true } : { exit: rest[1] === 'none' ? null : Number(rest[1]) }),
        output: '',
      }
    case 'compact':
      return { kind: 'compacted' }
    case 'clear':
      return { kind: 'session-ended', reason: 'clear' }
    case 'close':
      return { kind: 'session-ended', reason: 'closed' }
    case 'restart':
      return { kind: 'restart' }
    case 'die':
      return { kind: 'process-died', process: rest[0] }
    case 'tick':
      return { kind: 'tick' }
    default:
      throw new Error(`no such event: ${text}`)
  }
}

/** What a line of the simulator is called in a trace; `undefined`: it is none of these. */
export function printed(out: Readonly<Record<string, unknown>>): string | undefined {
  switch (out['do']) {
    case 'ask-model':
      return `ask ${out['ask']}`
    case 'cancel-model':
      return `cancel ${out['ask']}`
    case 'row': {
      const { status, intent, reason } = out['row'] as { status: string; intent: string; reason: string | null }
      if (status === 'ready') return intent === 'goal-edit' ? 'ready!' : 'ready'
      return ['quiet', 'failed', 'superseded'].includes(status) ? `${status} ${reason}` : undefined
    }
    case 'submit':
      return out['as'] === 'person' ? 'person' : `fire ${out['round']}/${out['of']}`
    case 'verdict':
      return out['admit'] === true ? 'admit' : `veto ${out['why']}`
    case 'run-check':
      return `check ${out['check']}`
    case 'displace-goal':
      return 'displace'
    case 'ledger':
      return ['hold', 'warn', 'refund', 'disarm'].includes(String(out['what'])) ? `${out['what']} ${out['reason']}` : undefined
    case 'reply':
      return out['ok'] === false ? `no ${out['code']}` : undefined
    default:
      return undefined
  }
}
