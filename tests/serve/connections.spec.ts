import { describe, expect, it } from 'vitest'
import { createConnections, goneMs } from '../../src/serve/connections.ts'
import { callerOf } from '../../src/serve/doors.ts'

const caller = (connection: string) => callerOf(`claude-code/2.1 ${connection}`)
const heard = (session: string, kind: 'turn-started' | 'session-ended' = 'turn-started') =>
  ({ kind, session, project: '/p', at: 0, turn: 1, by: 'person', reason: 'other' }) as never

function world() {
  const log: string[] = []
  let now = 0
  const connections = createConnections(
    {
      opened: async session => void log.push(`opened ${session}`),
      closed: async (session, _caller, isLost) => void log.push(`${isLost ? 'lost' : 'closed'} ${session}`),
    },
    () => now,
  )
  return { log, connections, move: (ms: number) => (now += ms) }
}

describe('a connection', () => {
  it('that polled and is silent for ten seconds is gone, with its sessions', async () => {
    const { log, connections, move } = world()
    await connections.hear(caller('a'), heard('s'))
    const { leave } = connections.wait(caller('a'), 's')
    move(goneMs * 5)
    await connections.sweep()
    expect(log).toEqual(['opened s'])
    leave()
    move(goneMs - 1)
    await connections.sweep()
    expect(log).toEqual(['opened s'])
    move(1)
    await connections.sweep()
    expect(log).toEqual(['opened s', 'lost s'])
    expect(connections.sessions()).toEqual([])
  })

  it('that polls again in time stays', async () => {
    const { log, connections, move } = world()
    connections.wait(caller('a'), 's').leave()
    move(goneMs - 1)
    connections.wait(caller('a'), 's')
    move(goneMs)
    await connections.sweep()
    expect(log).toEqual(['opened s'])
  })

  it('that never polled is not missed: a command hook comes and goes', async () => {
    const { log, connections, move } = world()
    await connections.hear(callerOf('hook/0 s'), heard('s'))
    move(goneMs * 10)
    await connections.sweep()
    expect(log).toEqual(['opened s'])
  })

  it('that another one took over does not end the session', async () => {
    const { log, connections, move } = world()
    connections.wait(caller('a'), 's').leave()
    connections.wait(caller('b'), 's')
    move(goneMs)
    await connections.sweep()
    expect(log).toEqual(['opened s'])
    expect(connections.sessions()).toEqual(['s'])
  })

  it('closes a session when it says so', async () => {
    const { log, connections } = world()
    await connections.hear(caller('a'), heard('s'))
    await connections.hear(caller('a'), heard('s', 'session-ended'))
    expect(log).toEqual(['opened s', 'closed s'])
  })
})

describe('a poll', () => {
  it('of a session that ended waits until its door speaks for another one, and opens nothing', async () => {
    const { log, connections } = world()
    await connections.hear(caller('a'), heard('s'))
    await connections.hear(caller('a'), heard('s', 'session-ended'))
    const { moved } = connections.wait(caller('a'), 's')
    await connections.hear(caller('b'), heard('other'))
    expect([moved.aborted, connections.sessions()]).toEqual([false, ['other']])
    await connections.hear(caller('a'), heard('t'))
    expect(moved.aborted).toBe(true)
    expect(log).toEqual(['opened s', 'closed s', 'opened other', 'opened t'])
  })

  it('goes on while its door speaks for a second session beside it, and when the session comes back', async () => {
    const { connections } = world()
    await connections.hear(caller('a'), heard('s'))
    const { moved } = connections.wait(caller('a'), 's')
    await connections.hear(caller('a'), heard('t'))
    await connections.hear(caller('a'), heard('s', 'session-ended'))
    await connections.hear(caller('a'), heard('s'))
    expect(moved.aborted).toBe(false)
    connections.wait(caller('a'), 's')
    expect(connections.sessions()).toEqual(['s', 't'])
  })
})

describe('the door of a header', () => {
  it.each([
    ['claude-code/2.1.332 x1', 'claude-code', 'x1'],
    ['hook/0 s', 'hook', 's'],
    ['mcp/1 m', 'mcp', 'm'],
    ['telepathy/9 q', 'cli', 'q'],
    ['', 'cli', ''],
    [undefined, 'cli', ''],
    ['claude-code', 'cli', ''],
  ])('%s is %s', (header, door, connection) => {
    const found = callerOf(header)
    expect([found.door.name, found.connection]).toEqual([door, connection])
  })
})

describe('the door of Claude Code', () => {
  it('carries no context when a turn starts, since the host takes none there', () => {
    const { contextAt } = callerOf('claude-code/2.1.332 x').door
    expect([contextAt.has('person-spoke'), contextAt.has('turn-started')]).toEqual([true, false])
  })
})
