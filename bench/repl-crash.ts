/**
 * `kill -9` of workers and of the process that has the session, at random moments: `npm run bench -- repl-crash [--rounds 500] [--seed N] [--from 0]`.
 * A round is the same for the same seed and number, so that one with a fault can be played alone and many can be played in parts.
 *
 * Each round plays a session of random cells through the built program: declarations, changes of shared objects, closures, classes, time and random numbers,
 * lines appended to a file, requests to a loopback server. A kill falls while a cell runs, between two, or on the whole program; then the session goes on.
 * Looked at is the world: no acknowledged cell is missing from the history, no line was appended twice and none of an acknowledged cell is missing, no request
 * came twice, and every name that is not told as lost holds what it held.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

type Line = { readonly [key: string]: unknown }

interface Client {
  readonly child: ChildProcess
  /** How it ended, and what it said beside answers. */
  last(): string
  ask(request: Line): Promise<Line | undefined>
  readonly ended: Promise<void>
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string' } },
  })
  const rounds = Number(values.rounds ?? 500)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const first = Number(values.from ?? 0)
  if (![rounds, seed, first].every(Number.isSafeInteger)) throw new Error('rounds, seed and from are whole numbers')
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-repl-crash-'))
  const requests = new Map<string, number>()
  const server = createServer((request, response) => {
    const key = request.url ?? ''
    requests.set(key, (requests.get(key) ?? 0) + 1)
    response.end(key)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const totals = { cells: 0, kills: 0, interrupted: 0, names: 0, lost: 0, faults: 0 }
  try {
    for (let round = first; round < first + rounds; round++) {
      const cwd = join(folder, `round-${round}`)
      mkdirSync(join(cwd, '.git'), { recursive: true })
      await play(round, cwd, port, requests, randomFrom(seed * 10_007 + round), totals)
      rmSync(cwd, { recursive: true, force: true, maxRetries: 3 })
      if (round % 25 === 24) process.stderr.write(`round ${round + 1} of ${first + rounds}: ${JSON.stringify(totals)}\n`)
    }
  } finally {
    server.close()
    server.closeAllConnections()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const { cells, kills, interrupted, names, lost, faults } = totals
  console.log(
    `repl-crash, seed ${seed}: rounds ${first} to ${first + rounds - 1}, ${cells} cells, ${kills} kills, ${interrupted} cells interrupted`,
  )
  console.log(`names after a kill: ${names}, of them lost and told: ${lost}; faults: ${faults}`)
  if (faults > 0) process.exitCode = 1
}

/** What a session must hold, kept beside it. */
interface Model {
  readonly values: Map<string, unknown>
  /** Numbers of cells whose effects were acknowledged. */
  readonly acknowledged: Set<number>
  /** Begun and never acknowledged: their effects may have happened, once. */
  readonly open: Set<number>
}

async function play(
  round: number,
  cwd: string,
  port: number,
  requests: ReadonlyMap<string, number>,
  random: () => number,
  totals: { cells: number; kills: number; interrupted: number; names: number; lost: number; faults: number },
): Promise<void> {
  const pick = (below: number): number => Math.floor(random() * below)
  const fault = (what: string): void => {
    totals.faults++
    console.error(`round ${round}: ${what}`)
  }
  const model: Model = { values: new Map(), acknowledged: new Set(), open: new Set() }
  let client = open(cwd)
  let steps = 0
  const length = 4 + pick(5)
  while (steps < length) {
    const step = steps++
    const { code, apply } = cellOf(step, `${round}-${step}`, port, pick, model)
    const when = pick(4)
    // 0: the worker while the cell runs; 1: the program; 2: the worker between cells; 3: nothing.
    if (when < 2) {
      const target = client
      setTimeout(
        () => {
          if (when === 1) target.child.kill('SIGKILL')
          else void target.ask({ op: 'kill9' })
        },
        pick(when === 1 ? 400 : 60),
      )
      totals.kills++
    }
    totals.cells++
    const answer = await client.ask({ op: 'run', code })
    if (answer === undefined) {
      model.open.add(step)
      totals.interrupted++
      client = open(cwd)
      // It may have ended without having been able to say so.
      const history = await client.ask({ op: 'history', limit: 1, source: true })
      const [last] = (history?.['cells'] ?? []) as readonly { readonly source: string; readonly outcome: string }[]
      if (last?.source === code && last.outcome === 'ok') apply()
    } else if (answer['ok'] === true) {
      model.acknowledged.add(step)
      apply()
    } else {
      model.open.add(step)
      totals.interrupted++
      if (answer['outcome'] !== 'exited') fault(`${code}: ${JSON.stringify(answer['error'])}`)
    }
    forget(model, answer, totals)
    if (when === 2) {
      totals.kills++
      await client.ask({ op: 'kill9' })
    }
    client = await compare(client, cwd, model, totals, fault)
  }
  await client.ask({ op: 'close' })
  await client.ended
  const text = existsSync(join(cwd, 'log.txt')) ? readFileSync(join(cwd, 'log.txt'), 'utf8') : ''
  for (let step = 0; step < length; step++) {
    const id = `${round}-${step}`
    const lines = text.split('\n').filter(line => line === id).length
    const asked = requests.get(`/${id}`) ?? 0
    if (lines > 1) fault(`cell ${id} appended ${lines} times`)
    if (asked > 1) fault(`cell ${id} asked ${asked} times`)
  }
  for (const step of model.acknowledged) {
    const id = `${round}-${step}`
    if (effects.get(id) === 'append' && !text.includes(`${id}\n`)) fault(`the line of acknowledged cell ${id} is missing`)
    if (effects.get(id) === 'fetch' && requests.get(`/${id}`) !== 1) fault(`the request of acknowledged cell ${id} is missing`)
    effects.delete(id)
  }
}

const effects = new Map<string, 'append' | 'fetch'>()

/** A cell, and what it makes of the names when it is acknowledged. */
function cellOf(
  step: number,
  id: string,
  port: number,
  pick: (below: number) => number,
  { values }: Model,
): { readonly code: string; apply(): void } {
  const name = `n${step}`
  const lists = [...values].filter(([, value]) => Array.isArray(value)).map(([each]) => each)
  const list = lists[pick(lists.length)]
  switch (pick(list === undefined ? 6 : 9)) {
    case 0:
      return { code: `const ${name} = [${step}]`, apply: () => void values.set(name, [step]) }
    case 1:
      return {
        code: `const ${name} = (() => { let c = 0; return () => ++c })(); ${name}()`,
        apply: () => void values.set(name, 'closure'),
      }
    case 2:
      return {
        code: `class C${step} { constructor(public v: number) {} twice() { return this.v * 2 } } const ${name} = new C${step}(${step})`,
        apply: () => void values.set(name, { v: step }),
      }
    case 3:
      return {
        code: `const ${name} = [Date.now(), Math.random()].map(n => typeof n === 'number')`,
        apply: () => void values.set(name, [true, true]),
      }
    case 4:
      effects.set(id, 'append')
      return {
        code: `const ${name} = ["log"]; process.getBuiltinModule('fs').appendFileSync('log.txt', '${id}\\n')`,
        apply: () => void values.set(name, ['log']),
      }
    case 5:
      effects.set(id, 'fetch')
      return {
        code: `const ${name} = [await (await fetch('http://127.0.0.1:${port}/${id}')).text()]`,
        apply: () => void values.set(name, [`/${id}`]),
      }
    case 6:
      return { code: `${list}.push(${step})`, apply: () => void (values.get(list!) as unknown[]).push(step) }
    case 7:
      return {
        code: `const ${name} = ${list}; ${name}.push('shared')`,
        apply: () => {
          const shared = values.get(list!) as unknown[]
          shared.push('shared')
          values.set(name, shared)
        },
      }
    default:
      effects.set(id, 'append')
      return {
        code: `${list}.push('line'); process.getBuiltinModule('fs').appendFileSync('log.txt', '${id}\\n')`,
        apply: () => void (values.get(list!) as unknown[]).push('line'),
      }
  }
}

/** Names that an answer says are lost need not be there any more. */
function forget(model: Model, answer: Line | undefined, totals: { names: number; lost: number }): void {
  const recovery = answer?.['recovery'] as { bindings: readonly { name: string; status: string }[] } | undefined
  if (recovery === undefined) return
  totals.names += recovery.bindings.length
  for (const { name, status } of recovery.bindings) {
    if (status !== 'lost') continue
    totals.lost++
    model.values.delete(name)
  }
}

/** Every name holds what it must. */
async function compare(
  before: Client,
  cwd: string,
  model: Model,
  totals: { names: number; lost: number },
  fault: (what: string) => void,
): Promise<Client> {
  const names = [...model.values].filter(([, value]) => value !== 'closure').map(([name]) => name)
  const code = `return { ${names.map(name => `${name}: typeof ${name} === 'undefined' ? 'gone' : ${name}`).join(', ')} }`
  let client = before
  let answer = await client.ask({ op: 'run', code })
  // A kill of the step before may fall here too: on the worker, on the program, or on both.
  for (let tries = 0; tries < 4 && (answer === undefined || answer['outcome'] === 'exited'); tries++) {
    if (answer === undefined) client = open(cwd)
    else forget(model, answer, totals)
    answer = await client.ask({ op: 'run', code })
  }
  forget(model, answer, totals)
  if (answer?.['ok'] !== true) {
    fault(`the names cannot be read: ${JSON.stringify(answer)}; ${client.last()}`)
    return client
  }
  const preview = answer['value'] as Line | undefined
  // Instances are no JSON: then only that they are there is looked at.
  if (preview === undefined) return client
  for (const name of names) {
    if (!model.values.has(name)) continue
    const [now, then] = [JSON.stringify(preview[name]), JSON.stringify(model.values.get(name))]
    if (now !== then) {
      fault(`${name} holds ${now}, not ${then}`)
      model.values.set(name, preview[name])
    }
  }
  return client
}

function open(cwd: string): Client {
  const child = spawn(process.execPath, [program, 'repl', 'serve', '--session', './s', '--json-lines'], {
    cwd,
    env: { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, 'state'), XDG_CACHE_HOME: join(cwd, 'cache') },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<string, (line: Line | undefined) => void>()
  let text = ''
  let said = ''
  let ids = 0
  let isGone = false
  child.stdin!.on('error', () => undefined)
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = JSON.parse(text.slice(0, end)) as Line
      text = text.slice(end + 1)
      const answered = waiting.get(String(line['id']))
      if (answered === undefined) said += `${JSON.stringify(line)} `
      else answered(line)
    }
  })
  const ended = new Promise<void>(resolve =>
    child.once('close', () => {
      isGone = true
      for (const answer of waiting.values()) answer(undefined)
      resolve()
    }),
  )
  return {
    child,
    ended,
    last: () => `${child.exitCode ?? child.signalCode ?? 'alive'} ${said}`,
    ask: request =>
      new Promise(resolve => {
        if (isGone) return resolve(undefined)
        const id = `q${++ids}`
        waiting.set(id, line => {
          waiting.delete(id)
          resolve(line)
        })
        child.stdin!.write(`${JSON.stringify({ id, ...request })}\n`)
      }),
  }
}

/** The same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
