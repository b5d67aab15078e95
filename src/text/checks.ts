/** Shell lines as far as one must understand them to see a test run: segments outside quotes, and the runners' commands. */

export interface Segments {
  /** Trimmed, without leading `NAME=value` words; none empty. */
  readonly segments: readonly string[]
  /** The line holds a pipe, so its exit code is the last program's. */
  readonly piped: boolean
}

/** Split a line at `&&`, `||`, `;`, `|` and newlines that stand outside quotes. */
export function segmentsOf(line: string): Segments {
  const segments: string[] = []
  let piped = false
  let quote = ''
  let start = 0
  const cut = (at: number, length: number) => {
    const segment = withoutAssignments(line.slice(start, at))
    if (segment !== '') segments.push(segment)
    start = at + length
  }
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (quote !== '') {
      if (char === '\\' && quote === '"') at++
      else if (char === quote) quote = ''
    } else if (char === '\\') at++
    else if (char === '"' || char === "'") quote = char
    else if (char === ';' || char === '\n') cut(at, 1)
    else if (char === '|' || (char === '&' && line[at + 1] === '&')) {
      const isDouble = line[at + 1] === char
      if (!isDouble && line[at - 1] !== '>') piped = true
      cut(at, isDouble ? 2 : 1)
      if (isDouble) at++
    }
  }
  cut(line.length, 0)
  return { segments, piped }
}

const assignment = /^[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s"']*)(?=\s|$)/

function withoutAssignments(segment: string): string {
  let rest = segment.trim()
  for (let match = assignment.exec(rest); match !== null; match = assignment.exec(rest))
    rest = rest.slice(match[0].length).trimStart()
  return rest.replace(/\s+/g, ' ')
}

/** Commands that run tests, by themselves or with anything behind a blank or a colon. */
export const testCommands: readonly string[] = [
  'npm test',
  'npm t',
  'npm run test',
  'pnpm test',
  'pnpm run test',
  'yarn test',
  'bun test',
  'deno test',
  'node --test',
  'vitest',
  'npx vitest',
  'jest',
  'npx jest',
  'pytest',
  'python -m pytest',
  'python3 -m pytest',
  'tox',
  'go test',
  'cargo test',
  'cargo nextest',
  'mvn test',
  'gradle test',
  'gradlew test',
  './gradle test',
  './gradlew test',
  'dotnet test',
  'make test',
  'make check',
  'ctest',
  'rspec',
  'bundle exec rspec',
  'phpunit',
  'mix test',
]

/** Is this segment one of these commands? */
export function isTestSegment(segment: string, commands: readonly string[] = testCommands): boolean {
  return commands.some(command => segment === command || segment.startsWith(`${command} `) || segment.startsWith(`${command}:`))
}
