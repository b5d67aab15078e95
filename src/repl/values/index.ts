/** Values: live ones to bytes, bytes to graphs, graphs to text, JSON, pages and live values again. */
export {
  type Encoded,
  type EncodeHost,
  type EncodeOptions,
  encode,
  type LayoutHints,
  noHost,
  type OpaquePart,
  type PathStep,
  type Reference,
} from './encode.ts'
export { type Graph, type GraphObject, isGraphObject } from './graph.ts'
export { type Json, jsonOf } from './json.ts'
export { type Bounds, previewBounds, type ValueLimits, valueLimits } from './limits.ts'
export { type Materialized, type MaterializeHost, materialize } from './materialize.ts'
export { type Printed, type PrintOptions, printBounded, printGraph, typeOfGraph } from './notation.ts'
export { type Page, pageGraph } from './page.ts'
export { isBoundedCopy, parseGraph } from './parse.ts'
export { captureRealm, type Realm } from './realm.ts'
