/** next-step's section of the configuration: a project's file may only lower numbers or turn off. */

import { allowedFor, isAllowed, readConfig } from '../next-step/config.ts'
import { defaultNextConfig, type NextConfig, type NumberKey, ranges } from '../next-step/types.ts'
import type { Json } from '../ports/json.ts'
import { type ConfigKey, integer, toggle } from './config-keys.ts'

const d = defaultNextConfig

function number(path: NumberKey, about: string): ConfigKey {
  const [min, max] = ranges[path]
  return integer(path, min, max, { precedence: 'lower-only', default: d[path], about })
}

/** What spends or relaxes is the person's alone. */
function own(path: 'model' | 'prefer' | 'judgeModel' | 'risk', about: string): ConfigKey {
  const allowed = allowedFor(path)
  return {
    path,
    precedence: 'person-only',
    default: d[path],
    allowed,
    check: value => (isAllowed(path, value) ? undefined : allowed),
    about,
  }
}

export const nextKeys: readonly ConfigKey[] = [
  own('model', 'Which model names one step after each turn; without one, none is asked and nothing is spent.'),
  toggle('local', { precedence: 'lower-only', default: d.local, about: 'Offer what the session itself makes obvious.' }),
  own('prefer', 'Whose step counts when both have one; local saves the call.'),
  number('maxChars', 'Longest step.'),
  number('contextChars', 'How much of what was said the model reads.'),
  number('timeoutMs', 'How long a model may take.'),
  number('maxRounds', 'Turns that one arm of the loop may start, unless it names its own.'),
  number('maxTokens', 'Tokens that one arm may spend.'),
  number('maxMinutes', 'Minutes that one arm may last.'),
  number('flatRounds', 'Rounds without progress after which the loop stops.'),
  own('judgeModel', 'Which model may judge between rounds that the work is done.'),
  own('risk', 'Whether a step that destroys, ships or reveals waits for a person.'),
  number('checkTimeoutMs', 'How long the condition of a loop may run.'),
]

/** @param section - the resolved section; what it lacks, or what is not allowed after all, has its default. */
export function nextConfig(section: Readonly<Record<string, Json>>): NextConfig {
  return readConfig(section).config
}
