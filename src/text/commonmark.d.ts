/** The part of the reference parser that is used here. It ships no declarations. */
declare module 'commonmark' {
  export interface Node {
    readonly type: string
    readonly literal: string | null
    readonly level: number
    readonly parent: Node | null
    readonly firstChild: Node | null
    readonly next: Node | null
    walker(): Walker
  }
  export interface Walker {
    next(): { readonly entering: boolean; readonly node: Node } | null
  }
  export class Parser {
    constructor(options?: { readonly smart?: boolean })
    parse(text: string): Node
  }
}
