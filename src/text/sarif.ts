/**
 * The parts of a SARIF 2.1.0 log that every report of ours shares: code scanning services and editors
 * read it. Pure.
 */

interface SarifRegion {
  /** From 1. */
  readonly startLine: number
  readonly startColumn?: number
  readonly endLine?: number
  /** The column after the last character. */
  readonly endColumn?: number
}

export interface SarifLocation {
  readonly id?: number
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string }
    readonly region?: SarifRegion
  }
  readonly message?: { readonly text: string }
}

export interface SarifRule {
  readonly id: string
  readonly shortDescription: string
  readonly help: string
  readonly level: 'error' | 'warning' | 'note'
}

export interface SarifResult {
  readonly ruleId: string
  readonly level: 'error' | 'warning' | 'note'
  readonly message: string
  readonly location: SarifLocation
  readonly related?: readonly SarifLocation[]
  readonly fingerprints?: Readonly<Record<string, string>>
}

export interface SarifTool {
  readonly name: string
  /** `automationDetails.id`: what this run is called among others, ending in `/`. */
  readonly automation: string
  readonly rules: readonly SarifRule[]
}

/** The log as a value; columns count UTF-16 units. Every result's rule must be among the tool's. */
export function sarifLog(tool: SarifTool, results: readonly SarifResult[]): Readonly<Record<string, unknown>> {
  const index = new Map(tool.rules.map((rule, at) => [rule.id, at]))
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: tool.name,
            rules: tool.rules.map(({ id, shortDescription, help, level }) => ({
              id,
              shortDescription: { text: shortDescription },
              help: { text: help },
              defaultConfiguration: { level },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        automationDetails: { id: tool.automation },
        results: results.map(({ ruleId, level, message, location, related, fingerprints }) => ({
          ruleId,
          ruleIndex: index.get(ruleId)!,
          level,
          message: { text: message },
          locations: [location],
          ...(related !== undefined && related.length > 0 && { relatedLocations: related }),
          ...(fingerprints !== undefined && { partialFingerprints: fingerprints }),
        })),
      },
    ],
  }
}

/**
 * Where a file is, for a log that is read on another machine: project paths below `%SRCROOT%`, others
 * as `file:` addresses.
 *
 * @param path - project-relative with `/`, or absolute.
 */
export function sarifFile(path: string): SarifLocation['physicalLocation']['artifactLocation'] {
  const encoded = path.split('/').map(encodeSegment).join('/')
  if (path.startsWith('/')) return { uri: `file://${encoded}` }
  if (/^[A-Za-z]:\//.test(path)) return { uri: `file:///${path.slice(0, 2)}${encoded.slice(encoded.indexOf('/'))}` }
  // A first segment with a colon would be taken for a scheme: `encodeSegment` leaves none.
  return { uri: encoded, uriBaseId: '%SRCROOT%' }
}

/** Lone surrogates, which no address can hold, become U+FFFD. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed())
}
