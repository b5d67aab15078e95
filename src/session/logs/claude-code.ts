/** Rows of a Claude Code transcript into our events. */
import { completeTool } from '../calls.ts'
import { capInput, capOutput, capText } from '../caps.ts'
import type { By, SessionEvent, TurnEndReason, Usage } from '../events.ts'
import { todosOf } from './dsh.ts'
import { blocksText, listOf, numberOf, type Row, rowOf, textOf, timeOf } from './lines.ts'
import type { LogOptions, Tally } from './reader.ts'

export interface ClaudeCodeReader {
  readonly session: string
  readonly project: string
  readonly start: SessionEvent
  read(row: Row): readonly SessionEvent[]
  end(): readonly SessionEvent[]
}

/** An assistant message whose rows, one a block, are still coming. */
interface Message {
  readonly id: string
  readonly texts: string[]
  readonly at: number
  usage: Row
  stop: string | undefined
}

const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const

/** @param first - rows read ahead, for what the first row may lack: session, folder, time. */
export function readClaudeCode(first: readonly Row[], tally: Tally, options: LogOptions): ClaudeCodeReader {
  const find = <T>(take: (row: Row) => T | undefined) => first.map(take).find(value => value !== undefined)
  const session = find(row => textOf(row['sessionId'])) ?? ''
  const cwd = find(row => textOf(row['cwd'])) ?? '/'
  const project = options.projectOf(cwd)

  let at = find(row => timeOf(row['timestamp'])) ?? 0
  let turns = 0
  let turn: { readonly number: number; readonly id: string | undefined } | undefined
  let message: Message | undefined
  let texts: string[] = []
  let usage: Usage | undefined
  let reason: TurnEndReason = 'completed'
  const calls = new Map<string, { readonly name: string; readonly input: unknown }>()

  const base = (time = at) => ({ session, project, at: time })

  function flush(): readonly SessionEvent[] {
    if (message === undefined) return []
    const { texts: parts, usage: given, stop, at: time } = message
    message = undefined
    const text = capText(parts.join(''))
    if (text !== '') texts.push(text)
    reason = stop === 'max_tokens' ? 'max-tokens' : 'completed'
    const input = inputCounts.reduce((total, key) => total + (numberOf(given[key]) ?? 0), 0)
    const output = numberOf(given['output_tokens']) ?? 0
    if (input + output === 0) return []
    usage = { input: (usage?.input ?? 0) + input, output: (usage?.output ?? 0) + output }
    return [{ kind: 'context-measured', ...base(time), tokens: input + output, window: 0 }]
  }

  function endTurn(how?: TurnEndReason, time = at): readonly SessionEvent[] {
    const measured = flush()
    if (turn === undefined) return measured
    const last = texts.at(-1) ?? ''
    const earlier = [...new Set(texts)].filter(text => text !== last)
    const ended: SessionEvent = {
      kind: 'turn-ended',
      ...base(time),
      turn: turn.number,
      reason: how ?? reason,
      answer: last,
      ...(turn.id !== undefined && { turnId: turn.id }),
      ...(earlier.length > 0 && { earlier }),
      ...(usage !== undefined && { usage }),
    }
    turn = undefined
    texts = []
    usage = undefined
    reason = 'completed'
    return [...measured, ended]
  }

  function startTurn(by: By, row: Row): SessionEvent {
    turns++
    const id = textOf(row['promptId']) ?? textOf(row['uuid'])
    turn = { number: turns, id }
    return { kind: 'turn-started', ...base(), turn: turns, by, ...(id !== undefined && { turnId: id }) }
  }

  function prompt(row: Row, text: string, before: number): readonly SessionEvent[] {
    if (text.startsWith('[Request interrupted by user')) return endTurn('aborted')
    const ended = endTurn(undefined, before)
    const origin = rowOf(row['origin'])
    const isPlugin = origin['kind'] === 'plugin' && origin['asUser'] !== true
    const started = startTurn(isPlugin ? 'plugin' : 'person', row)
    if (isPlugin) return [...ended, started]
    const command = /<command-name>\/?([^<]*)<\/command-name>/.exec(text)
    if (command === null) return [...ended, started, { kind: 'person-spoke', ...base(), text: capText(text) }]
    const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? ''
    return [...ended, started, { kind: 'command-run', ...base(), name: command[1]!.trim(), args: args.trim(), by: 'person' }]
  }

  function user(row: Row, before: number): readonly SessionEvent[] {
    const content = rowOf(row['message'])['content']
    const results = listOf(content)
      .map(rowOf)
      .filter(block => block['type'] === 'tool_result')
    if (results.length > 0) return [...flush(), ...results.flatMap(block => result(row, block))]
    if (row['isCompactSummary'] === true) {
      tally.skip('compact-summary')
      return []
    }
    if (row['isMeta'] === true) {
      if (turn !== undefined) return []
      return [...flush(), startTurn('host', row)]
    }
    return prompt(row, blocksText(content, '\n'), before)
  }

  function result(row: Row, block: Row): readonly SessionEvent[] {
    const id = textOf(block['tool_use_id'])
    const call = id === undefined ? undefined : calls.get(id)
    if (id === undefined || call === undefined) {
      tally.skip('tool_result')
      return []
    }
    calls.delete(id)
    const output = blocksText(block['content'], '\n')
    const complete = completeTool({
      kind: 'tool-finished',
      ...base(),
      turn: turn?.number ?? null,
      call: id,
      tool: call.name,
      input: call.input,
      ok: block['is_error'] !== true,
      output,
      cwd: textOf(row['cwd']) ?? cwd,
    })
    return [{ ...complete, input: capInput(call.input), output: capOutput(output) }]
  }

  function assistant(row: Row): readonly SessionEvent[] {
    const given = rowOf(row['message'])
    const id = textOf(given['id']) ?? textOf(row['uuid']) ?? ''
    const events: SessionEvent[] = []
    if (message?.id !== id) {
      events.push(...flush())
      message = { id, texts: [], at, usage: {}, stop: undefined }
    }
    message.usage = { ...message.usage, ...rowOf(given['usage']) }
    message.stop = textOf(given['stop_reason']) ?? message.stop
    for (const block of listOf(given['content']).map(rowOf)) {
      if (block['type'] === 'text') message.texts.push(textOf(block['text']) ?? '')
      if (block['type'] !== 'tool_use') continue
      const name = textOf(block['name']) ?? ''
      calls.set(textOf(block['id']) ?? '', { name, input: block['input'] ?? {} })
      if (name !== 'TodoWrite') continue
      events.push({ kind: 'todos-changed', ...base(), todos: todosOf(rowOf(block['input'])['todos']) })
    }
    return events
  }

  function system(row: Row): readonly SessionEvent[] {
    const subtype = textOf(row['subtype'])
    if (subtype === 'turn_duration') return endTurn()
    if (subtype === 'compact_boundary') {
      const trigger = textOf(rowOf(row['compactMetadata'])['trigger']) ?? textOf(row['trigger'])
      return [...flush(), { kind: 'compacted', ...base(), ...(trigger !== undefined && { trigger }) }]
    }
    const run = rowOf(row['commandRun'])
    const name = textOf(run['command'])
    if (subtype === 'local_command' && name !== undefined) {
      const args = textOf(run['args']) ?? ''
      return [...flush(), { kind: 'command-run', ...base(), name: name.replace(/^\//, ''), args, by: 'person' }]
    }
    tally.skip('system')
    return []
  }

  function read(row: Row): readonly SessionEvent[] {
    const of = textOf(row['sessionId'])
    if (of !== undefined && of !== session) {
      tally.skip('other-session')
      return []
    }
    if (row['isSidechain'] === true) {
      tally.skip('sidechain')
      return []
    }
    const before = at
    at = timeOf(row['timestamp']) ?? at
    switch (row['type']) {
      case 'user':
        return user(row, before)
      case 'assistant':
        return assistant(row)
      case 'system':
        return system(row)
      case 'custom-title': {
        const title = textOf(row['customTitle'])
        if (title !== undefined) return [...flush(), { kind: 'title-changed', ...base(), title, by: 'person' }]
      }
    }
    tally.skip(textOf(row['type']) ?? 'bad')
    return []
  }

  return {
    session,
    project,
    start: { kind: 'session-started', ...base(), source: 'startup', cwd, root: project },
    read,
    end: () => endTurn(),
  }
}
