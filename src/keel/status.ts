/** The status file: what is behind, for people and models that look at the project without us. */
import { OutriggerError } from '../errors.ts'
import type { Core } from './core.ts'
import { readOrNull } from './history.ts'
import { item } from './messages.ts'
import { isSuspect } from './naming.ts'
import { makeKeelFolder, statusPath } from './places.ts'
import type { Assessment, Edge } from './types.ts'

/** @param since - when a suspect was first seen, ISO. */
export function renderStatus(assessment: Assessment, since: (edge: Edge) => string): string {
  const suspects = assessment.edges.filter(isSuspect)
  return [
    '---',
    'type: keel-status',
    `swept: ${new Date(assessment.sweptAt).toISOString()}`,
    '---',
    `suspects: ${suspects.length === 0 ? 'none' : suspects.length}`,
    ...suspects.map(edge => `${item(edge)} since ${since(edge)}`),
    ...(assessment.degraded.length === 0 ? [] : ['degraded:', ...assessment.degraded.map(note => `- ${note}`)]),
    '',
  ].join('\n')
}

/** Write it when something but its time differs; a project without children and without a status file gets none. */
export async function writeStatusFile(core: Core, since: (edge: Edge) => string): Promise<void> {
  const { files, root, config } = core.deps
  if (!config.statusFile) return
  const path = `${root}/${statusPath}`
  const before = readOrNull(files, path)
  if (before === null && core.assessment().children === 0) return
  const text = renderStatus(core.assessment(), since)
  if (before !== null && withoutTime(new TextDecoder().decode(before)) === withoutTime(text)) return
  try {
    await makeKeelFolder(files, root)
    await files.replace(path, new TextEncoder().encode(text))
    core.notes.clear('status not written')
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    core.notes.set('status not written')
  }
}

function withoutTime(text: string): string {
  return text.replace(/^swept: .*$/mu, '')
}
