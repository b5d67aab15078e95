/** The text side of pack in a few lines: streams are lists of trailers, a state is their bodies. */
import { OutriggerError } from '../../src/errors.ts'
import {
  defaultPackConfig,
  type LoadDocument,
  type PackConfig,
  type PackProject,
  type SaveDocument,
  type SaveInput,
  type TakenTrailer,
  type TrustLevel,
} from '../../src/pack/types.ts'

interface FakeStream {
  readonly trailers: TakenTrailer[]
  revision: number
  trust: TrustLevel
}

export interface FakePack extends PackProject {
  readonly all: Map<string, FakeStream>
  readonly saves: SaveInput[]
  readonly loads: { readonly stream: string; readonly room?: number; readonly file?: string }[]
  readonly kept: string[]
  /** Appends and saves fail with it. */
  broken: OutriggerError | null
  /** The next saves are so. */
  outcome: Partial<SaveDocument>
  place: 'tracked' | 'neither'
}

// biome-ignore lint/suspicious/noExplicitAny: only what the session side uses
type Loose = any

export function fakePack(config: Partial<PackConfig> = {}): FakePack {
  const all = new Map<string, FakeStream>()
  const open = (stream: string): FakeStream => {
    const known = all.get(stream) ?? { trailers: [], revision: 0, trust: 'own' as const }
    all.set(stream, known)
    return known
  }
  const fake: Loose = {
    root: '/p',
    config: { ...defaultPackConfig, ...config },
    all,
    saves: [],
    loads: [],
    kept: [],
    broken: null,
    outcome: {},
    place: 'tracked',
    take({ texts, session = 'none', turn, flags = [], agent, at = 0 }: Loose) {
      const bodies = texts.flatMap((text: string) => text.match(/^<!-- ckpt[\s\S]*?-->/gm) ?? [])
      const answer: string = texts.at(-1) ?? ''
      const task = /(T\d+) closed/.exec(answer)?.[1] ?? null
      const level = task !== null || /pivot:/.test(answer) ? 'strong' : /decision:/.test(answer) ? 'simple' : 'none'
      return {
        trailers: bodies.map((body: string, index: number) => ({
          key: `${session}-${turn}-${index}`.padEnd(12, '0'),
          body,
          session,
          at,
          flags: [...flags, ...(agent === undefined ? [] : [`agent:${agent}`])],
        })),
        ignored: /^> <!-- ckpt/m.test(answer) ? [{ line: 3, reason: 'in-quote' }] : [],
        seam: { level, task },
        redacted: [],
      }
    },
    async append(stream: string, trailers: readonly TakenTrailer[]) {
      if (fake.broken !== null) throw fake.broken
      const known = open(stream)
      const captured = trailers.map(trailer => {
        const at = known.trailers.findIndex(one => one.key === trailer.key)
        const duplicate = at !== -1
        if (!duplicate) known.trailers.push(trailer)
        const number = duplicate ? at + 1 : known.trailers.length
        return { id: `c${String(number).padStart(2, '0')}`, key: trailer.key, duplicate, clauses: [] }
      })
      return { stream, captured, journal: '', notes: [] }
    },
    async save(input: SaveInput) {
      if (fake.broken !== null) throw fake.broken
      fake.saves.push(input)
      const known = open(input.stream)
      known.revision++
      const { designation, goal } = input
      const failed = designation?.kind === 'failed'
      return {
        stream: input.stream,
        revision: known.revision,
        outcome: failed ? 'degraded' : 'ok',
        notes: failed ? ['no-model'] : [],
        designation: designation === undefined ? 'off' : failed ? 'failed' : 'applied',
        reason: failed ? designation.reason : null,
        state: { path: '', chars: 120, tokens: 40 },
        fidelity: { score: 100, lines: 100, artifacts: 100, frontier: 100 },
        ...(goal !== undefined && { handoff: { path: `h-${known.revision}.md`, chars: 1, leftOut: [] } }),
        ...(designation === undefined || failed ? {} : fake.outcome),
      }
    },
    prompt: async (stream: string, goal?: string) => ({ stream, prompt: `prompt ${stream} ${goal ?? ''}`.trim(), tokens: 10 }),
    async load(input: Loose): Promise<LoadDocument> {
      const { stream, trust = false } = input
      fake.loads.push(input)
      const known = all.get(stream)
      if (known === undefined) throw new OutriggerError('PACK_UNKNOWN_STREAM', `no stream "${stream}"`)
      if (trust) known.trust = 'own'
      const confirmed = known.trust === 'own'
      const text = confirmed ? `NOTES of ${stream} r${known.revision}${input.file === undefined ? '' : ` ${input.file}`}` : null
      const rest = { nonce: null, flagged: [], stale: [], pending: { entries: 0, after: 'c00' } }
      return { ...rest, stream, revision: known.revision, trust: { level: known.trust, confirmed }, text, changes: ['+ a line'] }
    },
    show: async (stream: string, ids?: readonly string[]) => ({
      stream,
      entries: [],
      missing: ids ?? [],
      state: ids === undefined ? { revision: all.get(stream)?.revision ?? 0, text: `state of ${stream}` } : null,
    }),
    list: async () => ({
      streams: [...all].map(([stream, { revision, trailers, trust }]) => ({
        stream,
        revision,
        saved: revision === 0 ? null : '2026-01-02T03:04:05.000Z',
        entries: trailers.length,
        unsaved: 0,
        trust,
        legacy: false,
      })),
    }),
    diff: async (stream: string) => ({
      stream,
      from: 0,
      to: 1,
      added: [{ id: 'c01', section: 'next', text: 'go on' }],
      removed: [],
      changed: [],
      scalars: [],
    }),
    streamOfTitle: (title: string) => (/^[\w-]+$/.test(title) ? title : `s-${title.length}`),
    checkStream(name: string, own?: 'own') {
      if (name === 'inbox' && own !== 'own') throw new OutriggerError('PACK_RESERVED_STREAM', 'the name "inbox" is taken')
      if (/[^\w-]/.test(name)) throw new OutriggerError('PACK_BAD_STREAM', `"${name}" names no stream`)
      return name
    },
    streams: () => [...all.keys()],
    exists: (stream: string) => all.has(stream),
    outline: async (stream: string) => [{ id: 'c01', section: 'next', text: stream }],
    placement: async () => fake.place,
    keepFacts: async (session: string) => void fake.kept.push(session),
  }
  return fake as FakePack
}
