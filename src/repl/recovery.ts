/**
 * Carries a plan out in a new worker. What turns out otherwise than planned — a file changed, a copy cannot be read, a cell runs another way than it did —
 * is planned again without it, until what is left is true. Never fails: what cannot be had is lost, with a reason.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { LostName } from './dependencies.ts'
import { isBlob, type Journal, sha256 } from './journal.ts'
import type { JournalCell } from './journal-state.ts'
import type { CellReport, Kernel } from './kernel.ts'
import type { Path, RecordedActivity } from './path.ts'
import { type Plan, type PlannedName, plan } from './plan.ts'
import { prove } from './proof.ts'
import { outcomeOf } from './result.ts'
import type { Secrets } from './secrets.ts'
import type { CellError, EndRecord, MaybeBlob } from './types.ts'
import type { LateTape, LostReason, Meanwhile, Stamp, Tape, TranscribedCall } from './worker/tape.ts'

export interface RecoveryParts {
  readonly kernel: Kernel
  readonly journal: Journal
  readonly secrets: Secrets
  readonly languages: ReadonlySet<number>
  readonly recoverMs: number
}

export interface Recovered {
  /** Every name that was bound at the head. */
  readonly names: ReadonlyMap<string, PlannedName>
  readonly timersDropped: number
  /** Cells whose replay went another way. */
  readonly diverged: readonly number[]
}

/** Rounds of planning; each one rules out a cell or a copy. */
const maxRounds = 64
/** Workers that may die of it before it is given up. */
const maxDeaths = 4
/** For a last plan that runs nothing, when the time is over. */
const graceMs = 2_000

interface Step {
  readonly time: number
  readonly isCell: boolean
  /** While the cell ran, or between cells. */
  readonly late: readonly RecordedActivity[]
}

export async function recover(path: Path, parts: RecoveryParts): Promise<Recovered> {
  return new Recovering(path, parts).run()
}

class Recovering {
  readonly #path: Path
  readonly #parts: RecoveryParts
  readonly #refusedCells = new Map<number, LostReason>()
  readonly #refusedCopies = new Map<string, LostReason>()
  /** By time. */
  readonly #refusedLates = new Map<number, LostReason>()
  readonly #verified = new Set<number>()
  readonly #diverged: number[] = []
  readonly #deadline: number
  #deaths = 0
  /** Cells have run in the worker: another plan needs another worker. */
  #isUsed = false
  #isLate = false

  constructor(path: Path, parts: RecoveryParts) {
    this.#path = path
    this.#parts = parts
    this.#deadline = performance.now() + parts.recoverMs
  }

  async run(): Promise<Recovered> {
    for (let round = 0; round < maxRounds && this.#deaths < maxDeaths; round++) {
      const planned = this.#plan()
      if ((await this.#rulesOut(planned)) && round < maxRounds - 1) continue
      const done = await this.#carryOut(planned)
      if (done !== undefined) return done
      if (this.#parts.kernel.worker === null) this.#deaths++
      else if (this.#isUsed) await this.#parts.kernel.restart()
      this.#isUsed = false
    }
    return this.#giveUp()
  }

  #plan(): Plan {
    return plan(
      {
        path: this.#path.cells,
        late: this.#path.late.map(late => {
          const refused = this.#refusedLates.get(late.time)
          return refused === undefined ? late : { ...late, refused }
        }),
        lost: [],
        checkpoints: this.#path.checkpoints(),
        refusedCells: this.#refusedCells,
        refusedCopies: this.#refusedCopies,
        languages: this.#parts.languages,
        recoverMs: this.#isLate ? -1 : this.#parts.recoverMs,
      },
      this.#path.dependencies,
    )
  }

  /** Looks at what the plan needs before anything runs; true when there is something that it cannot have. */
  async #rulesOut({ replays, lates }: Plan): Promise<boolean> {
    let found = false
    const stamps: Stamp[] = []
    const refuse: ((reason: LostReason) => void)[] = []
    for (const cell of replays) {
      if (this.#verified.has(cell)) continue
      this.#verified.add(cell)
      const recorded = await this.#load<readonly Stamp[]>(this.#cell(cell).end?.stamps)
      for (const stamp of recorded ?? []) {
        stamps.push(stamp)
        refuse.push(reason => this.#refusedCells.set(cell, reason))
      }
      if ((await this.#source(cell)) === undefined) {
        this.#refusedCells.set(cell, 'secret')
        found = true
      }
    }
    for (const late of this.#latesOf(lates)) {
      if (this.#verified.has(late.time)) continue
      this.#verified.add(late.time)
      const tape = await this.#lateTape(late)
      if (tape === undefined) {
        this.#refusedLates.set(late.time, 'secret')
        found = true
      }
      for (const stamp of tape?.stamps ?? []) {
        stamps.push(stamp)
        refuse.push(reason => this.#refusedLates.set(late.time, reason))
      }
    }
    if (stamps.length === 0) return found
    const changed = await this.#parts.kernel.verify(stamps, this.#left())
    for (const index of changed ?? stamps.keys()) {
      refuse[index]!('file-changed')
      found = true
    }
    return found
  }

  /** `undefined`: it came out otherwise, plan again. */
  async #carryOut(planned: Plan): Promise<Recovered | undefined> {
    const names = new Map(planned.names)
    if (!(await this.#restore(planned, names))) return undefined
    for (const { time, isCell, late } of this.#stepsOf(planned)) {
      if (performance.now() > this.#deadline && !this.#isLate) {
        for (const left of planned.replays) if (left >= time) this.#refusedCells.set(left, 'budget')
        this.#isLate = true
        return undefined
      }
      this.#isUsed = true
      const diverged = isCell ? ((await this.#replay(time, late)) ? [] : [time]) : await this.#repeat(late)
      if (diverged.length === 0) continue
      this.#refuseDiverged(diverged)
      return undefined
    }
    const { timersDropped, diverged } = await this.#parts.kernel.recovered(this.#left())
    if (this.#parts.kernel.worker === null) return undefined
    if (diverged.length > 0) {
      this.#refuseDiverged(diverged)
      return undefined
    }
    const proved = this.#isLate ? names : await prove(names, this.#path, this.#parts)
    return { names: proved, timersDropped, diverged: this.#diverged }
  }

  #refuseDiverged(cells: readonly number[]): void {
    for (const cell of cells) {
      this.#refusedCells.set(cell, 'diverged')
      this.#diverged.push(cell)
    }
  }

  /** In the order in which all of it happened; what went on while a cell ran belongs to the cell, the rest is in groups with each cell once. */
  #stepsOf({ replays, lates }: Plan): readonly Step[] {
    const running = new Set(replays)
    const steps: { time: number; isCell: boolean; late: RecordedActivity[] }[] = replays.map(time => ({
      time,
      isCell: true,
      late: [],
    }))
    const between: RecordedActivity[] = []
    for (const late of this.#latesOf(lates)) {
      const { during } = late.record
      if (during === undefined || !running.has(during)) between.push(late)
      else steps.find(step => step.time === during)!.late.push(late)
    }
    steps.push(...between.map(late => ({ time: late.time, isCell: false, late: [late] })))
    const joined: typeof steps = []
    for (const step of steps.sort((a, b) => a.time - b.time)) {
      const before = joined.at(-1)
      const [late] = step.late
      const isMore = !step.isCell && before?.isCell === false && before.late.every(each => each.cell !== late!.cell)
      if (isMore) before.late.push(late!)
      else joined.push(step)
    }
    return joined
  }

  #latesOf(times: readonly number[]): readonly RecordedActivity[] {
    const wanted = new Set(times)
    return this.#path.late.filter(({ time }) => wanted.has(time))
  }

  async #lateTape({ record: { tape, secrets } }: RecordedActivity): Promise<LateTape | undefined> {
    return (await this.#shown<LateTape>(tape, secrets)) ?? undefined
  }

  /** What cells did after their end, once more. Those that went another way. */
  async #repeat(late: readonly RecordedActivity[]): Promise<readonly number[]> {
    const all = late.map(({ cell }) => cell)
    const tapes = await this.#tapesOf(late)
    if (tapes.length < late.length) return all
    return (await this.#parts.kernel.replayLate(tapes, Math.max(1, this.#left()))) ?? all
  }

  async #tapesOf(late: readonly RecordedActivity[]): Promise<readonly Meanwhile[]> {
    const found: Meanwhile[] = []
    for (const each of late) {
      const tape = await this.#lateTape(each)
      if (tape !== undefined) found.push({ cell: each.cell, tape })
    }
    return found
  }

  async #restore({ entries, copies, names: all }: Plan, names: Map<string, PlannedName>): Promise<boolean> {
    const { kernel, journal } = this.#parts
    for (const { hash, secrets } of copies) {
      const stored = await journal.bytes(hash)
      const bytes = stored === undefined ? undefined : this.#parts.secrets.bytes.show(stored, secrets)
      if (bytes === undefined) {
        this.#refusedCopies.set(hash, stored === undefined ? 'blob-missing' : 'secret')
        return false
      }
      kernel.give(hash, bytes)
    }
    const needed = new Set(copies.flatMap(copy => copy.cells))
    for (const { entry } of entries) if (entry.of === 'source') needed.add(entry.cell)
    const sources: { readonly cell: number; readonly source: string }[] = []
    for (const cell of [...needed].sort((a, b) => a - b)) {
      const source = await this.#source(cell)
      if (source !== undefined) sources.push({ cell, source })
    }
    const gone = [...all].flatMap(([name, { status, reason, cell }]) =>
      status === 'lost' ? [{ name, cell, reason: reason ?? ('closure-effect' as const) }] : [],
    )
    const before: readonly LostName[] = [...this.#path.dependencies.lost.values()]
    const answer = await kernel.restore(
      {
        sources,
        fixed: entries,
        components: copies.map(({ hash, names: held }) => ({ hash, names: held })),
        lost: [...before, ...gone].map(({ name, cell, reason }) => ({ name, cell, reason })),
      },
      this.#left(),
    )
    if (answer === undefined) return false
    const byName = new Map(copies.flatMap(({ hash, names: held }) => held.map(each => [each.name, hash] as const)))
    let isWhole = true
    for (const { name, status, reason } of answer) {
      const expected = names.get(name)
      if (expected === undefined) continue
      if (status !== 'lost') continue
      const hash = byName.get(name)
      if (hash !== undefined && !this.#refusedCopies.has(hash)) {
        this.#refusedCopies.set(hash, 'blob-missing')
        isWhole = false
      }
      names.set(name, { ...expected, status: 'lost', reason: reason ?? 'blob-missing' })
    }
    if (!isWhole) this.#isUsed = true
    return isWhole
  }

  /** False: it went another way. */
  async #replay(cell: number, activities: readonly RecordedActivity[]): Promise<boolean> {
    const { begin, end } = this.#cell(cell)
    const source = await this.#source(cell)
    if (end === undefined || source === undefined) return false
    const tape = await this.#shown<Tape>(end.tape, end.secrets?.tape)
    const calls = await this.#shown<readonly TranscribedCall[]>(end.transcript, end.secrets?.transcript)
    if (tape === undefined || calls === undefined) return false
    const meanwhile = await this.#tapesOf(activities)
    const left = Math.max(1, this.#left())
    const report = await this.#parts.kernel.run({
      cell,
      source,
      echo: begin.echo,
      computeMs: left,
      wallMs: left,
      namespaces: end.namespaces ?? {},
      call: async () => ({ ok: false, message: 'nothing is called again' }),
      signal: undefined,
      replay: { tape: tape ?? { v: 1 }, calls: calls ?? [], ...(meanwhile.length > 0 && { meanwhile }) },
    })
    return isSame(report, end)
  }

  /** `null` stands for a part that the cell does not have. */
  async #shown<T>(part: MaybeBlob<T> | undefined, uses: Parameters<Secrets['show']>[1] = []): Promise<T | undefined | null> {
    if (part === undefined) return null
    const loaded = await this.#load<T>(part)
    if (loaded === undefined || uses.length === 0) return loaded
    const text = this.#parts.secrets.show(JSON.stringify(loaded), uses)
    return text === undefined ? undefined : (JSON.parse(text) as T)
  }

  async #load<T>(part: MaybeBlob<T> | undefined): Promise<T | undefined> {
    if (part === undefined) return undefined
    return (await this.#parts.journal.load(part as MaybeBlob<Json>)) as T | undefined
  }

  async #source(cell: number): Promise<string | undefined> {
    return sourceOf(this.#cell(cell), this.#parts.journal, this.#parts.secrets)
  }

  #cell(cell: number): JournalCell {
    return this.#parts.journal.state.cells.get(cell)!
  }

  #left(): number {
    return Math.max(this.#deadline - performance.now(), graceMs)
  }

  /** A worker that keeps dying: the session goes on without its names. Where none could be started nothing is lost: the next cell tries again. */
  #giveUp(): Recovered {
    const failure = this.#parts.kernel.startFailure
    if (failure !== undefined) throw notStarted(failure)
    const names = new Map<string, PlannedName>()
    for (const [name, { kind, cell }] of this.#path.dependencies.bound) {
      names.set(name, { status: 'lost', reason: 'diverged', kind, cell })
    }
    return { names, timersDropped: 0, diverged: this.#diverged }
  }
}

function notStarted({ code, cwd }: { readonly code: string; readonly cwd: string }): OutriggerError {
  return new OutriggerError('OUT-K001', `The worker could not be started in ${cwd} (${code}). No name is lost.`, {
    subject: cwd,
    hint: code === 'ENOENT' ? 'make the folder again and run the cell again' : 'run the cell again in a moment',
    exit: 3,
  })
}

/** As it was submitted; `undefined` when it is gone, or held a secret that the environment does not have any more. */
export async function sourceOf(
  { begin }: Pick<JournalCell, 'begin'>,
  journal: Pick<Journal, 'load'>,
  secrets: Secrets,
): Promise<string | undefined> {
  const stored = await journal.load(begin.source)
  return stored === undefined ? undefined : secrets.show(stored, begin.secrets ?? [])
}

/** Whether a replay ended as the cell did: in the same way, with the same value or the same error. */
function isSame(report: CellReport, end: EndRecord): boolean {
  const { done, value, loss } = report
  if (done === undefined || loss !== undefined || done.divergence !== undefined) return false
  if (outcomeOf(report) !== end.outcome) return false
  if (done.failure !== undefined && !isBlob(end.error) && end.error !== undefined && !isSameFailure(done.failure, end.error))
    return false
  const hash = value === undefined ? undefined : sha256(value)
  return end.completion.hash === undefined || hash === end.completion.hash
}

/** A message that was masked cannot be compared. */
function isSameFailure(now: { readonly name: string; readonly message: string }, then: CellError): boolean {
  return now.name === then.name && (now.message === then.message || then.message.includes('•••'))
}
