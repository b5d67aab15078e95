/** `judge`: one event, or a stream of them, judged as a session would; for tests and for hosts that run commands. */
import { OutriggerError } from '../../errors.ts'
import { completeTool } from '../../session/calls.ts'
import { decodeEvent } from '../../session/decode-event.ts'
import type { SessionEvent } from '../../session/events.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { absoluteIn } from '../../text/paths.ts'
import { createObservations, type Observation } from '../claims/observations.ts'
import { documentNumber } from '../confidence.ts'
import { createJudge, type Judge, judgeEvent } from '../judge/judge.ts'
import { type CompanionState, decodeState, encodeState, noState } from '../judge/state.ts'
import type { Abstained, Judgement, ReconciliationResult } from '../judge/types.ts'
import type { SuiteRun } from '../playform/suites.ts'
import type { Companion } from '../project.ts'
import type { Drift } from '../texts.ts'
import { type EvidenceDocument, evidenceOf } from './for.ts'
import { decoder, type GetCompanion } from './shared.ts'

export interface JudgeInput {
  readonly state?: string
  readonly stream?: boolean
}

export interface JudgeOutput {
  readonly judged: boolean
  readonly note: {
    readonly text: string
    readonly summary: string
    readonly intent: string
    readonly k: number | null
    readonly candidates: readonly {
      readonly path: string
      readonly for: string
      readonly k: number
      readonly missing: boolean
      readonly because: readonly string[]
      readonly evidence: readonly EvidenceDocument[]
    }[]
    readonly drifts?: readonly Drift[]
  } | null
  readonly abstained: Abstained | null
  readonly reconciliation: ReconciliationResult | null
  readonly ledger: readonly string[]
}

const maxBytes = 1024 * 1024
const maxStateBytes = 16 * 1024 * 1024
const stateSchema = 'outrigger.companion.state/1'

const input = {
  type: 'object',
  properties: {
    state: { type: 'string', description: 'a file of ours that keeps what a session remembers', minLength: 1, maxLength: 4096 },
    stream: { type: 'boolean', description: 'one event a line, one answer a line' },
  },
  additionalProperties: false,
} as const

export function judgeOperation(get: GetCompanion): Operation<JudgeInput, JudgeOutput> {
  async function* stream(given: JudgeInput, caller: Caller): AsyncIterable<JudgeOutput> {
    const companion = get()
    const { deps, knowledge } = companion
    const file = given.state === undefined ? null : absoluteIn(caller.cwd ?? deps.root, given.state)
    const kept = file === null ? null : readState(companion, file, given.state!)
    const observations = createObservations(kept?.observations)
    const judge = createJudge(companion, {
      observations,
      reconcileMs: Number.POSITIVE_INFINITY,
      said: new Set(kept?.said),
      suiteRuns: new Map(kept?.suiteRuns),
    })
    let state: CompanionState = kept === null ? noState : decodeState(kept.state as never)
    const [declaredBy] = await Promise.all([deps.readEdges(), knowledge.ready()])
    let ids = 0
    const context = {
      declaredBy,
      toldByKeel: () => new Set<string>(),
      newId: () => `judge-${state.agents === noState.agents ? 0 : 1}-${++ids}`,
    }
    for await (const text of given.stream === true ? eachLine(caller) : [await wholeInput(caller)]) {
      const judgement = judgeEvent(judge, state, eventOf(companion, text), context)
      state = judgement.state
      knowledge.settle()
      if (file !== null) await saveState(companion, file, state, judge)
      yield documentOf(judgement)
    }
  }
  return {
    name: 'companion.judge',
    summary: 'Judges one event of a session, given as JSON on standard input: a note, or the reason for none.',
    input,
    readOnly: true,
    decode: decoder<JudgeInput>(input),
    async run() {
      throw new Error('the answers are a stream')
    },
    stream,
    render,
    examples: [
      'echo \'{"tool":"Edit","input":{"file_path":"src/parse.ts"}}\' | outrigger companion judge',
      'outrigger companion judge --stream --state /tmp/session.json < events.jsonl',
    ],
  }
}

function eventOf({ deps }: Companion, text: string): SessionEvent {
  const bad = (why: string, subject: string) =>
    new OutriggerError('COMPANION_BAD_EVENT', why, { subject, hint: 'give one event as a JSON object; a call needs "tool"' })
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw bad('the event is no JSON', '')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw bad('the event is no object', '')
  const given = json as Record<string, unknown>
  const kind = given['kind'] ?? 'tool-finished'
  const call = deps.clock.newId()
  const base = { session: 'cli', project: deps.root, at: deps.clock.now() }
  const found = decodeEvent({ ...(kind === 'tool-finished' && { call }), ...given, kind }, base)
  switch (found.kind) {
    case 'unknown':
      throw bad(`no kind of event "${found.name.slice(0, 40)}"`, 'kind')
    case 'bad':
      throw bad(`${found.field === '' ? 'the event' : found.field} is missing or of another type`, found.field)
    default:
      return found.event.kind === 'tool-finished' ? completeTool(found.event) : found.event
  }
}

interface Kept {
  readonly state: unknown
  readonly said: readonly string[]
  readonly observations: readonly (readonly [string, Observation])[]
  readonly suiteRuns: readonly (readonly [string, SuiteRun])[]
}

function readState({ deps }: Companion, file: string, typed: string): Kept | null {
  const bad = () =>
    new OutriggerError('COMPANION_BAD_STATE', `${typed.slice(0, 200)} holds no state of ours`, {
      subject: typed,
      hint: 'give a file that companion judge made, or one that is not there yet',
    })
  if (deps.files.lstat(file) === undefined) return null
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(deps.files.read(file, maxStateBytes)))
    const kept = json as Kept & { readonly schema: string }
    const isOurs = typeof kept === 'object' && kept !== null && kept.schema === stateSchema
    if (isOurs && [kept.said, kept.observations, kept.suiteRuns].every(Array.isArray)) return kept
  } catch {
    throw bad()
  }
  throw bad()
}

async function saveState({ deps }: Companion, file: string, state: CompanionState, judge: Judge): Promise<void> {
  const kept = {
    schema: stateSchema,
    state: encodeState(state),
    said: [...judge.said],
    observations: judge.observations.entries(),
    suiteRuns: [...judge.suiteRuns],
  }
  await deps.files.replace(file, new TextEncoder().encode(`${JSON.stringify(kept)}\n`))
}

function tooBig(): OutriggerError {
  return new OutriggerError('COMPANION_TOO_BIG', 'the event has more than 1 MiB', {
    subject: '-',
    hint: 'leave out what is not needed',
  })
}

async function wholeInput(caller: Caller): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of caller.stdin?.() ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooBig()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* eachLine(caller: Caller): AsyncGenerator<string> {
  let held = Buffer.alloc(0)
  for await (const chunk of caller.stdin?.() ?? []) {
    held = Buffer.concat([held, chunk])
    for (let end = held.indexOf(10); end !== -1; end = held.indexOf(10)) {
      const line = held.subarray(0, end).toString('utf8').trim()
      held = held.subarray(end + 1)
      if (line.length > maxBytes) throw tooBig()
      if (line !== '') yield line
    }
    if (held.length > maxBytes) throw tooBig()
  }
  const last = held.toString('utf8').trim()
  if (last !== '') yield last
}

function documentOf({ judged, note, abstained, reconciliation, ledger }: Judgement): JudgeOutput {
  return {
    judged,
    note:
      note === null
        ? null
        : {
            text: note.text,
            summary: note.summary,
            intent: note.intent,
            k: note.k === null ? null : documentNumber(note.k),
            candidates: note.candidates.map(candidate => ({
              path: candidate.path,
              for: candidate.for,
              k: documentNumber(candidate.k),
              missing: candidate.missing,
              because: candidate.because,
              evidence: evidenceOf(candidate),
            })),
            ...(note.drifts !== undefined && { drifts: note.drifts }),
          },
    abstained,
    reconciliation,
    ledger: ledger.map(({ text }) => text),
  }
}

function render({ note, abstained, ledger }: JudgeOutput): string {
  return [...(note === null ? [`no note: ${abstained?.code ?? 'nothing to say'}`] : [note.text]), ...ledger].join('\n')
}
