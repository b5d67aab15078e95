/** Node's HTTP. An `import` of it reads its every export, which loads all of `fetch` and takes 50 ms; a hook call takes little more in all. */
const http: typeof import('node:http') = process.getBuiltinModule('node:http')

export const createServer: typeof http.createServer = http.createServer
export const request: typeof http.request = http.request
