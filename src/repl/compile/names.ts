/** Names that need care before any program is looked at. */

/** Names that libraries look for to find out where they run; a cell's binding must not answer them. */
const sniffed = [
  'window',
  'self',
  'document',
  'define',
  'exports',
  'module',
  'require',
  '__filename',
  '__dirname',
  'importScripts',
  'Deno',
  'Bun',
  'global',
  'process',
  'jest',
  'expect',
  'describe',
  'it',
  'test',
  'mocha',
  'location',
  'navigator',
  'localStorage',
  'sessionStorage',
  'XMLHttpRequest',
  'WebSocket',
  'EventSource',
  'Worker',
  'SharedWorker',
  'WorkerGlobalScope',
  'ServiceWorkerGlobalScope',
  'HTMLElement',
  'Element',
  'Node',
  'Image',
  'chrome',
  'browser',
  'opera',
  'MSStream',
  'java',
  'Packages',
  'print',
  'nw',
  'wx',
  'EdgeRuntime',
  'Netlify',
  'caches',
  'React',
  'angular',
  'jQuery',
  'Zone',
  'ace',
  'webpackChunk',
  '__webpack_require__',
  'regeneratorRuntime',
  '__REACT_DEVTOOLS_GLOBAL_HOOK__',
]

/** @param global - the pristine global object of the realm, before any cell and without what the engine adds for cells. */
export function platformNamesOf(global: object): Set<string> {
  return new Set([...Object.getOwnPropertyNames(global), ...sniffed])
}

/** A name that neither the source nor, by that, any name in it contains. */
export function freshName(source: string): string {
  for (let index = 0; ; index++) {
    const name = index === 0 ? '__cell' : `__cell${index}`
    if (!source.includes(name)) return name
  }
}
