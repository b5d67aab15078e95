/** The keys of next-step that a person changes on the settings page. */
import { nextKeys } from '../../../runtime/config-next.ts'
import { type Field, fieldsOf } from '../fields.ts'

const labels: Readonly<Record<string, string>> = {
  model: 'Model that names the step',
  local: 'Steps without a model',
  prefer: 'When both have a step',
  maxRounds: 'Rounds of an autorun',
  maxTokens: 'Tokens of an autorun',
  maxMinutes: 'Minutes of an autorun',
  risk: 'Steps that destroy, ship or reveal',
}

export const nextFields: readonly Field[] = fieldsOf(nextKeys, labels)
