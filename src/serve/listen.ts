/**
 * Listens at the place of a project and stays reachable there. The socket lies below a cache folder that anybody may clean: a
 * process that nobody finds would keep its lease, and no other could begin.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import type { OutriggerError } from '../errors.ts'
import { healthOf } from './client.ts'
import { listenWith } from './http.ts'
import { makeSocketFolder } from './place.ts'
import type { Health } from './protocol.ts'
import type { EngineServer } from './server.ts'

export interface Listening {
  /** Makes the socket again where it was removed or something else lies there, and private where it was opened. Throws what the system says. */
  keep(): Promise<'there' | 'made again'>
  /** Removes the socket, when it is still ours: a successor may listen there by now. */
  remove(): void
  close(): void
}

/** @param held - the error for a place where somebody answers. */
export async function listen(
  { http }: EngineServer,
  socket: string,
  held: (health: Health) => OutriggerError,
): Promise<Listening> {
  const isFile = process.platform !== 'win32'
  let inode = 0
  /** The one that listens since the socket was made again; connections of before stay with the server. */
  let second: { close(): unknown } | undefined

  async function take(start: (done: () => void, failed: (error: Error) => void) => void): Promise<void> {
    makeSocketFolder(socket)
    const alive = await healthOf(socket, 500)
    if (alive !== undefined) throw held(alive)
    // Nobody else has the lease: what lies at the place is dead.
    if (isFile) rmSync(socket, { force: true })
    // Private from its first moment: the folder is, and the file is made so.
    const mask = process.umask(0o177)
    try {
      await new Promise<void>((resolve, reject) => start(resolve, reject))
    } finally {
      process.umask(mask)
    }
    if (!isFile) return
    chmodSync(socket, 0o600)
    inode = lstatSync(socket).ino
  }

  await take((done, failed) => {
    http.once('error', failed)
    http.listen(socket, () => {
      http.off('error', failed)
      done()
    })
  })

  return {
    async keep() {
      if (!isFile) return 'there'
      const there = lstatSync(socket, { throwIfNoEntry: false })
      if (there?.isSocket() === true && there.ino === inode) {
        makeSocketFolder(socket)
        if ((there.mode & 0o177) !== 0) chmodSync(socket, 0o600)
        return 'there'
      }
      // Closing removes the file of its path, so it comes before the new one.
      second?.close()
      second = undefined
      await take((done, failed) => {
        second = listenWith(http, socket, done, failed)
      })
      return 'made again'
    },
    remove() {
      if (isFile && lstatSync(socket, { throwIfNoEntry: false })?.ino === inode) rmSync(socket, { force: true })
    },
    close: () => void second?.close(),
  }
}
