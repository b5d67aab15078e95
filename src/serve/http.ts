import type { Server } from 'node:http'
import { createServer as createWay } from 'node:net'

/** Node's HTTP. An `import` of it reads its every export, which loads all of `fetch` and takes 50 ms; a hook call takes little more in all. */
const http: typeof import('node:http') = process.getBuiltinModule('node:http')

export const createServer: typeof http.createServer = http.createServer
export const request: typeof http.request = http.request

/** Another way in to a server that listens already: what connects to this path is a connection of `server`. */
export function listenWith(server: Server, path: string, done: () => void, failed: (error: Error) => void): { close(): unknown } {
  const way = createWay({ allowHalfOpen: true }, connection => server.emit('connection', connection))
  way.once('error', failed)
  way.listen(path, () => {
    way.off('error', failed)
    done()
  })
  return way
}
