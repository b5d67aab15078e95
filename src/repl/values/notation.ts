/**
 * A graph as text for a reader: one line up to 100 characters, else indented by two blanks; shared and cyclic objects are `&1 …` where they are
 * first shown and `*1` after. The same value always gives the same text. What is left out is counted where it is left out.
 */
import { type Graph, isGraphObject } from './graph.ts'
import { layOut } from './layout.ts'
import { boxName, bufferName } from './names.ts'
import { count, Printer, type PrintOptions } from './printer.ts'

export type { PrintOptions } from './printer.ts'

export interface Printed {
  readonly text: string
  /** Something was left out. */
  readonly cut: boolean
}

/** At most `maxChars` units: first fewer entries are shown, at last the text is cut at a code point. */
export function printBounded(graph: Graph, options: PrintOptions): Printed {
  const { maxChars } = options
  let budget = maxChars
  let printed: { text: string; cut: boolean } = { text: '', cut: false }
  for (let attempt = 0; attempt < 4; attempt++) {
    const printer = new Printer(options, budget)
    printed = { text: layOut(printer.print(graph)), cut: printer.cut }
    if (printed.text.length <= maxChars) return printed
    budget = Math.floor((budget * maxChars * 0.9) / printed.text.length)
  }
  const end = `… ${count(printed.text.length)} characters`
  let at = Math.max(0, maxChars - end.length)
  if (/[\ud800-\udbff]/.test(printed.text.charAt(at - 1))) at--
  return { text: `${printed.text.slice(0, at)}${end}`.slice(0, maxChars), cut: true }
}

/** The text alone; by default as long as 100 entries a level and 6 levels make it, up to a million units. */
export function printGraph(graph: Graph, maxChars: number = 1_000_000): string {
  return printBounded(graph, { maxChars }).text
}

/** What it is, in a word or two: `number`, `Array(200)`, `function`, `Map(3)`, `Point`. */
export function typeOfGraph(graph: Graph): string {
  if (!isGraphObject(graph)) return graph === null ? 'null' : typeof graph
  switch (graph.kind) {
    case 'object':
      return 'object'
    case 'array':
      return `${graph.derived?.className || 'Array'}(${graph.length})`
    case 'map':
      return `${graph.derived?.className || 'Map'}(${graph.size})`
    case 'set':
      return `${graph.derived?.className || 'Set'}(${graph.size})`
    case 'error':
      return graph.derived?.className || graph.name
    case 'buffer':
      return `${bufferName(graph)}(${graph.byteLength})`
    case 'view':
      return `${graph.derived?.className || graph.name}(${graph.length})`
    case 'date':
      return graph.derived?.className || 'Date'
    case 'regexp':
      return graph.derived?.className || 'RegExp'
    case 'url':
      return graph.derived?.className || 'URL'
    case 'params':
      return graph.derived?.className || 'URLSearchParams'
    case 'temporal':
      return graph.derived?.className || `Temporal.${graph.name}`
    case 'boxed':
      return graph.derived?.className || boxName(graph.value)
    case 'promise':
      return graph.derived?.className || 'Promise'
    case 'reference':
      return graph.shown.startsWith('[class')
        ? 'class'
        : graph.shown.startsWith('[module')
          ? 'module'
          : graph.shown.startsWith('[function')
            ? 'function'
            : 'object'
    case 'instance':
      return graph.className === '' ? 'object' : graph.className
    case 'opaque':
      return graph.type === 'Function' ? 'function' : graph.type === 'Class' ? 'class' : graph.type
    case 'symbol':
      return 'symbol'
    default:
      return graph satisfies never
  }
}
