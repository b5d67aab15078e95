/** The module that links one import declaration. */
import type { ProgramImport } from './program.ts'

/**
 * Text of a module that imports what the declaration names and exports it as `b0`, `b1`, … (in the order of `bindings`; those that are optional and
 * missing cannot be asked for this way: leave them out with `without`), and what a re-export requires as `r0`, `r1`, …. One line.
 *
 * @param specifier - what to import; default the declaration's own.
 * @param without - indices of bindings to leave out.
 */
export function linkSource(
  wanted: ProgramImport,
  specifier: string = wanted.specifier,
  without: ReadonlySet<number> = new Set(),
): string {
  const attributes = { ...wanted.attributes }
  if (attributes['type'] === undefined && /\.json(?:[?#]|$)/.test(specifier)) attributes['type'] = 'json'
  const entries = Object.entries(attributes).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  const from = `${JSON.stringify(specifier)}${entries.length === 0 ? '' : ` with {${entries.join(',')}}`};`
  const parts = wanted.bindings.flatMap(({ imported }, index) =>
    without.has(index) ? [] : [exportOf(imported, `b${index}`, from)],
  )
  parts.push(...wanted.required.map((name, index) => exportOf(name, `r${index}`, from)))
  return parts.length === 0 ? `import ${from}` : parts.join('')
}

function exportOf(name: string, as: string, from: string): string {
  return name === '*' ? `export * as ${as} from ${from}` : `export {${JSON.stringify(name)} as ${as}} from ${from}`
}
