/** Measuring and printing: medians over repeats, one table a bench, the machine in its heading. */
import { cpus, totalmem, type } from 'node:os'

export interface Row {
  readonly what: string
  readonly medianMs: number
  /** Largest of the repeats. */
  readonly worstMs: number
  readonly targetMs?: number
  readonly peer?: { readonly name: string; readonly medianMs: number }
}

export interface Sample {
  readonly medianMs: number
  readonly worstMs: number
}

/** Run `once` `repeats` times after `warmups` runs that do not count; ms. */
export async function measure(repeats: number, once: () => unknown, warmups = 1): Promise<Sample> {
  for (let i = 0; i < warmups; i++) await once()
  const times: number[] = []
  for (let i = 0; i < repeats; i++) {
    const start = performance.now()
    await once()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  return { medianMs: times[Math.floor(times.length / 2)]!, worstMs: times.at(-1)! }
}

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${type()} ${process.arch}, ${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
}

/** A Markdown table, as it stands in `docs/benchmarks.md`. */
export function printTable(title: string, rows: readonly Row[]): void {
  const lines = [
    `\n### ${title}`,
    '',
    `${machine()}`,
    '',
    '| what | median | worst | target | peer | ratio |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  for (const row of rows) {
    const target =
      row.targetMs === undefined ? '–' : `≤ ${format(row.targetMs)}${row.medianMs <= row.targetMs ? '' : ' **missed**'}`
    const peer = row.peer === undefined ? '–' : `${row.peer.name} ${format(row.peer.medianMs)}`
    const ratio = row.peer === undefined ? '–' : `${(row.medianMs / row.peer.medianMs).toFixed(2)}×`
    lines.push(`| ${row.what} | ${format(row.medianMs)} | ${format(row.worstMs)} | ${target} | ${peer} | ${ratio} |`)
  }
  console.log(lines.join('\n'))
}

const format = (ms: number) => (ms >= 100 ? `${Math.round(ms).toLocaleString('en')} ms` : `${ms.toFixed(ms < 1 ? 3 : 1)} ms`)
