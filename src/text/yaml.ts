/**
 * YAML with places: a block of a document parsed by the `yaml` library, its faults as values. Nothing is
 * converted to objects, so no text of a file becomes a key of one.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

export { type Alias, isAlias, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq }

export interface YamlFault {
  /** UTF-16 offset into the source. */
  readonly at: number
  /** One line, without the position. */
  readonly message: string
}

export interface Yaml {
  readonly root: Node | null
  /** The first fault; `null` when YAML took all of it. */
  readonly fault: YamlFault | null
  /** The node an alias stands for: the last one before it with that anchor. */
  resolve(alias: Alias): Node | null
  /** Every node with an anchor, in document order. */
  anchored(): readonly Anchored[]
}

export interface Anchored {
  readonly name: string
  readonly node: Node
}

/** YAML 1.2 core; duplicate keys are tolerated. Offsets in nodes are UTF-16 units of `source`. */
export function parseYaml(source: string): Yaml {
  // The library takes a lone CR for text, YAML for a line end. Replaced in place, so that offsets stay.
  const text = source.includes('\r') ? source.replace(/\r(?!\n)/g, '\n') : source
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: false,
      keepSourceTokens: true,
      prettyErrors: false,
      logLevel: 'silent',
    })
    const error = document.errors[0]
    let anchors: Anchors | null = null
    return {
      root: isNode(document.contents) ? document.contents : null,
      fault: error === undefined ? null : { at: error.pos[0], message: firstLine(error.message) },
      resolve(alias) {
        anchors ??= collectAnchors(document.contents)
        return anchors.targets.get(alias) ?? null
      },
      anchored() {
        anchors ??= collectAnchors(document.contents)
        return anchors.anchored
      },
    }
  } catch (fault) {
    // Lists nested by the ten thousand exhaust the stack of the library's composer.
    if (!(fault instanceof RangeError)) throw fault
    return { root: null, fault: { at: 0, message: 'nested too deeply' }, resolve: () => null, anchored: () => [] }
  }
}

interface Anchors {
  readonly targets: Map<Alias, Node>
  readonly anchored: Anchored[]
}

/** What each alias stands for, in one walk in document order. */
function collectAnchors(root: unknown): Anchors {
  const named = new Map<string, Node>()
  const found: Anchors = { targets: new Map(), anchored: [] }
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (isPair(node)) open.push(node.value, node.key)
    else if (isAlias(node)) {
      const target = named.get(node.source)
      if (target !== undefined) found.targets.set(node, target)
    } else if (isNode(node)) {
      if (node.anchor !== undefined) {
        named.set(node.anchor, node)
        found.anchored.push({ name: node.anchor, node })
      }
      if (isMap(node) || isSeq(node)) for (let i = node.items.length - 1; i >= 0; i--) open.push(node.items[i])
    }
  }
  return found
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}
