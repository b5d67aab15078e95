/** The file that `init` writes: every key with its default, all commented out, so that it changes nothing. */
import { configSchema } from './config.ts'
import type { ConfigKey } from './config-keys.ts'

export function configTemplate(): string {
  const sections = Object.entries(configSchema).flatMap(([name, keys]) => {
    // What a project's file may not hold does not stand in its template.
    const own = keys.filter(key => key.precedence !== 'person-file')
    return own.length === 0 ? [] : [[`# ${name}:`, ...keysOf(own)].join('\n')]
  })
  return [
    '# Settings of Outrigger for this project; they are shared with everyone who works on it.',
    '# Every key stands here with its default. Take the "# " away from a section and from the keys to change.',
    '# `outrigger doctor` shows which values count and where each came from.',
    '',
    ...sections,
    '',
  ].join('\n')
}

function keysOf(keys: readonly ConfigKey[]): readonly string[] {
  const lines: string[] = []
  let group = ''
  for (const key of keys) {
    const names = key.path.split('.')
    const above = names.slice(0, -1).join('.')
    if (above !== '' && above !== group) lines.push(`#   ${above}:`)
    group = above
    const indent = '  '.repeat(names.length)
    lines.push(`# ${indent}# ${key.about} (${key.allowed})`, `# ${indent}${names.at(-1)}: ${flow(key)}`)
  }
  return lines
}

function flow({ shown, default: value }: ConfigKey): string {
  const text = JSON.stringify(shown ?? value)
  // Words need no quotes, and read better without.
  return text
    .replaceAll(/"([A-Za-z][\w-]*)"/g, (quoted, word: string) =>
      /^(true|false|null|yes|no|on|off|y|n)$/i.test(word) ? quoted : word,
    )
    .replaceAll(',', ', ')
}
