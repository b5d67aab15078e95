/** A process of its own that holds a session, to be killed by a test. */
import { createFindMatches } from '../../../src/node/find-matches.ts'
import { nodeWorkers } from '../../../src/node/worker-process.ts'
import { openSession } from '../../../src/repl/session.ts'
import { defaultReplConfig } from '../../../src/repl/types.ts'
import { memoryStore } from '../memory-store.ts'

/** Says `pid <n> ready` when the worker has run the code, or has been running it for a while. */
export async function start(cwd: string, code: string, loops: boolean): Promise<void> {
  const session = await openSession({
    name: 'test',
    cwd,
    store: memoryStore(),
    workers: nodeWorkers(),
    clock: { now: () => Date.now(), newId: () => '', randomHex: digits => '0'.repeat(digits) },
    owner: `${process.pid}:boot:0`,
    config: defaultReplConfig,
    env: { PATH: process.env['PATH'] ?? '' },
    platform: { node: '', v8: '', icu: '', platform: '', arch: '', tz: '', lang: '' },
    legacyDecorators: false,
    findMatches: createFindMatches(),
    mask: text => text,
    isTimeFixed: false,
  })
  await session.run('return 1')
  const { worker } = await session.state()
  const running = session.run(code)
  if (loops) await new Promise(resolve => setTimeout(resolve, 400))
  else await running
  process.stdout.write(`pid ${worker!.pid} ready\n`)
  setInterval(() => {}, 1_000)
}
