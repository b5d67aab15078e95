/** Rows of a DSH session log into our events. The first row is the header. */
import { completeTool } from '../calls.ts'
import { capInput, capOutput, capText } from '../caps.ts'
import type { By, SessionEvent, Todo, TurnEndReason, Usage } from '../events.ts'
import { readGoalRow } from '../goal-row.ts'
import { blocksText, listOf, numberOf, type Row, rowOf, textOf, timeOf } from './lines.ts'
import type { LogOptions, Tally } from './reader.ts'

export interface DshReader {
  readonly session: string
  readonly project: string
  readonly start: SessionEvent
  read(row: Row): readonly SessionEvent[]
  end(): readonly SessionEvent[]
}

const reasons: ReadonlySet<string> = new Set(['completed', 'aborted', 'blocked', 'error', 'max-tokens', 'interrupted'])
const packed: ReadonlySet<string> = new Set(['text-chunks', 'reasoning-chunks', 'tool-call-chunks'])

export function readDsh(header: Row, tally: Tally, options: LogOptions): DshReader {
  const session = textOf(header['id']) ?? ''
  const cwd = textOf(header['cwd']) ?? '/'
  const project = options.projectOf(cwd)
  const isHelper = header['origin'] === 'subagent' || (numberOf(header['delegationDepth']) ?? 0) > 0
  if (header['version'] !== 0) tally.skip(`version ${String(header['version'])}`)

  let at = timeOf(header['createdAt']) ?? 0
  let expected: number | undefined
  let isFirst = true
  let window = 0
  let turn: number | null = null
  let texts: string[] = []
  let usage: Usage | undefined
  /** A turn that began; who started it stands in its first message. Its events wait for that. */
  let opening: { readonly at: number; readonly turn: number; readonly events: SessionEvent[] } | undefined
  const calls = new Map<string, { readonly name: string; readonly input: unknown }>()

  const base = (time: number) => ({ session, project, at: time, ...(isHelper && { agent: session }) })

  function emit(events: readonly SessionEvent[]): readonly SessionEvent[] {
    if (opening === undefined) return events
    opening.events.push(...events)
    return []
  }

  function settle(by: By): readonly SessionEvent[] {
    if (opening === undefined) return []
    const { events, turn: number, at: time } = opening
    opening = undefined
    return [{ kind: 'turn-started', ...base(time), turn: number, by }, ...events]
  }

  /** Rows are numbered without gaps; a packed one stands for several. */
  function count(row: Row): number {
    const size = packed.has(String(row['type'])) ? membersOf(row) : 1
    const seq = numberOf(row['seq'] ?? row['seq0'])
    if (seq === undefined) return size
    if (expected !== undefined && seq !== expected) tally.gaps++
    expected = seq + size
    return size
  }

  function finish(call: string, name: string, input: unknown, ok: boolean, content: unknown, parent?: string): SessionEvent {
    const output = blocksText(content, '\n')
    const complete = completeTool({
      kind: 'tool-finished',
      ...base(at),
      turn,
      call,
      tool: name,
      input,
      ok,
      output,
      cwd,
      ...(parent !== undefined && { parent }),
    })
    return { ...complete, input: capInput(input), output: capOutput(output) }
  }

  function message(row: Row): readonly SessionEvent[] {
    const source = rowOf(row['source'])
    const isSnapshot = source['form'] === 'snapshot'
    const kind = textOf(source['kind'])
    const started = isSnapshot ? [] : settle(starterOf(kind))
    if (kind === 'user') {
      const spoke: SessionEvent = { kind: 'person-spoke', ...base(at), text: capText(blocksText(row['content'])) }
      return [...started, ...emit([spoke])]
    }
    if (started.length === 0) tally.skip('user/message')
    return started
  }

  function answer(data: Row): readonly SessionEvent[] {
    const text = capText(blocksText(rowOf(data['message'])['content']))
    if (text !== '') texts.push(text)
    const given = rowOf(data['usage'])
    const input = sum(given, 'inputTokens', 'cacheReadTokens', 'cacheWriteTokens')
    const output = sum(given, 'outputTokens')
    if (input + output === 0) return []
    usage = { input: (usage?.input ?? 0) + input, output: (usage?.output ?? 0) + output }
    return window > 0 ? emit([{ kind: 'context-measured', ...base(at), tokens: input + output, window }]) : []
  }

  function results(data: Row): readonly SessionEvent[] {
    const events: SessionEvent[] = []
    for (const block of listOf(rowOf(data['message'])['content']).map(rowOf)) {
      const id = textOf(block['toolCallId'])
      const call = id === undefined ? undefined : calls.get(id)
      if (id === undefined || call === undefined) continue
      calls.delete(id)
      events.push(finish(id, call.name, call.input, block['isError'] !== true, block['content']))
    }
    if (events.length === 0) tally.skip('tool/result')
    return emit(events)
  }

  function endTurn(data: Row): readonly SessionEvent[] {
    const kind = textOf(rowOf(data['reason'])['kind']) ?? ''
    const started = settle('host')
    const answers = [...new Set(texts)]
    const last = texts.at(-1) ?? ''
    const earlier = answers.filter(text => text !== last)
    const ended: SessionEvent = {
      kind: 'turn-ended',
      ...base(at),
      turn: numberOf(data['turn']) ?? turn ?? 0,
      reason: reasons.has(kind) ? (kind as TurnEndReason) : 'completed',
      answer: last,
      ...(earlier.length > 0 && { earlier }),
      ...(usage !== undefined && { usage }),
    }
    turn = null
    texts = []
    usage = undefined
    return [...started, ended]
  }

  function read(row: Row): readonly SessionEvent[] {
    const type = textOf(row['type'])
    if (type === undefined) {
      tally.skip('bad')
      return []
    }
    const size = count(row)
    const wasFirst = isFirst
    isFirst = false
    at = numberOf(row['time'] ?? row['time0']) ?? at
    const data = rowOf(row['data'])
    switch (type) {
      case 'text-chunks':
      case 'reasoning-chunks':
      case 'tool-call-chunks':
      case 'assistant/chunk':
        tally.skip('chunk', size)
        return []
      case 'session/end-seed':
        if (wasFirst) return []
        turn = null
        return [...settle('host'), { kind: 'session-started', ...base(at), source: 'resume', cwd, root: project }]
      case 'turn/start': {
        const before = settle('host')
        turn = numberOf(data['turn']) ?? (turn ?? 0) + 1
        texts = []
        usage = undefined
        opening = { at, turn, events: [] }
        return before
      }
      case 'user/message':
        return message(data)
      case 'assistant/message':
        return answer(data)
      case 'request/context':
        window = numberOf(data['contextWindow']) ?? window
        return []
      case 'tool/call': {
        const id = textOf(data['callId'])
        if (id !== undefined) calls.set(id, { name: textOf(data['name']) ?? '', input: parsed(data['arguments']) })
        return []
      }
      case 'tool/result':
        return results(data)
      case 'tool/code-dispatch': {
        const id = textOf(data['subCallId'])
        if (id === undefined) break
        const { name, arguments: input, isError, content, rootCallId } = data
        return emit([finish(id, textOf(name) ?? '', parsed(input), isError !== true, content, textOf(rootCallId))])
      }
      case 'turn/end':
        return endTurn(data)
      case 'session/title': {
        const by = rowOf(data['source'])['kind'] === 'user' ? 'person' : 'generated'
        return emit([{ kind: 'title-changed', ...base(at), title: textOf(data['title']) ?? '', by }])
      }
      case 'todo/write':
        return emit([{ kind: 'todos-changed', ...base(at), todos: todosOf(data['todos']) }])
      case 'goal/change': {
        const goal = readGoalRow(data)
        if (goal === undefined) break
        return emit([{ kind: 'goal-changed', ...base(at), ...goal }])
      }
      case 'command/run': {
        const by: By = rowOf(data['source'])['kind'] === 'user' ? 'person' : 'plugin'
        const name = (textOf(data['name']) ?? '').replace(/^\//, '')
        return emit([{ kind: 'command-run', ...base(at), name, args: textOf(data['args']) ?? '', by }])
      }
      case 'compaction/end':
        if (data['error'] !== undefined && data['error'] !== null) break
        return emit([{ kind: 'compacted', ...base(at) }])
    }
    tally.skip(type)
    return []
  }

  const source = textOf(header['parentSession']) === undefined ? 'startup' : 'fork'
  return {
    session,
    project,
    start: { kind: 'session-started', ...base(at), source, cwd, root: project, ...(isHelper && { child: true }) },
    read,
    end: () => settle('host'),
  }
}

/** Later hosts write a plugin's name behind its kind. */
function starterOf(kind: string | undefined): By {
  if (kind === 'user') return 'person'
  if (kind === 'goal') return 'goal'
  return kind === 'plugin' || kind?.startsWith('plugin:') === true ? 'plugin' : 'host'
}

/** Members of a packed row. */
function membersOf(row: Row): number {
  const data = rowOf(row['data'])
  return Math.max(listOf(data['texts'] ?? data['args']).length, 1)
}

/** A JSON string becomes its value; one that is none stays as it is. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  try {
    return JSON.parse(value)
  } catch {
    // The model wrote no JSON: the text is what was called with.
    return value
  }
}

const sum = (row: Row, ...keys: readonly string[]) => keys.reduce((total, key) => total + (numberOf(row[key]) ?? 0), 0)

/** Todos as hosts write them: `content` and `status`. */
export function todosOf(value: unknown): readonly Todo[] {
  return listOf(value)
    .map(rowOf)
    .map((todo): Todo => {
      const status = todo['status'] ?? todo['state']
      const state = status === 'completed' || status === 'in_progress' ? status : 'pending'
      return { text: textOf(todo['content'] ?? todo['text']) ?? '', state }
    })
}
