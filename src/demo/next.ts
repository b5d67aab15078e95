/**
 * next-step with a loop: a person allows rounds and names a condition, the agent goes on by itself until it holds; a word of the
 * person ends the loop at once.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runWithPerson } from './person.ts'
import { type ScriptedTurn, startScriptedModel, textsOf } from './scripted-model.ts'
import type { Stage } from './stage.ts'

const files = ['parse.ts', 'check.ts', 'print.ts', 'main.ts'] as const

/** One file a round, and what is left after it. */
const round = (index: number): readonly ScriptedTurn[] => {
  const left = files.slice(index + 1)
  const steps = left.map((file, at) => `${at + 1}. Write ${file}`).join('\n')
  const path = files[index]!
  return [
    { calls: [{ name: 'write', args: { file_path: path, content: `export const part = ${index}\n` } }] },
    { text: left.length === 0 ? 'All four are there.' : `${path} is written.\n\n## Next steps\n\n${steps}` },
  ]
}

export async function showNext({ narrator, host, newHome, newRepository }: Stage): Promise<void> {
  narrator.part('next-step · going on by itself, as far as a person allowed')
  const repository = await newRepository({ 'README.md': '# Importer\n' })
  const model = await startScriptedModel({
    turns: [
      ...files.flatMap((_, index) => round(index)),
      { text: 'Two ways are open.\n\n## Next steps\n\n1. Write the docs' },
      { text: 'Thought about it.\n\n## Next steps\n\n1. Write the docs in two parts' },
      { text: 'Thought again.\n\n## Next steps\n\n1. Write the docs in three parts', delayMs: 1_500 },
      { text: 'Then I wait.' },
      { text: 'I wait.' },
    ],
  })
  const ran = await runWithPerson({
    host,
    home: newHome(),
    cwd: repository.root,
    modelUrl: model.url,
    profile: 'web',
    env: { DSH_PERMISSION_MODE: 'danger-full-access' },
    script: [
      { say: `Write ${files.join(', ')}, one at a time.` },
      { command: '/next' },
      { command: '/next arm --rounds 8 --until "test -f main.ts"' },
      { untilFile: 'main.ts' },
      // The condition is run once more.
      { sleepMs: 1_500 },
      { command: '/next' },
      { say: 'What else could we do?' },
      { command: '/next arm --rounds 8' },
      { say: 'Stop here, I look at it myself.' },
      { command: '/next' },
    ],
  })
  await model.close()
  if (!narrator.check(`the session ended well (${(ran.wallMs / 1000).toFixed(1)} s)`, ran.code === 0))
    narrator.show('output of the host', `${ran.stdout}${ran.stderr}`)

  const said = (index: number): string => {
    const line = ran.report.filter(each => each['event'] === 'command')[index]
    return (line?.['result'] as { readonly text?: string } | null | undefined)?.text ?? ''
  }
  narrator.tell(
    'After the first file the agent listed what is left. Without a model of its own, next-step offers the first of it:',
  )
  narrator.show('/next', said(0))
  narrator.check('the step is offered in the words of the session', said(0).includes('Write check.ts'))

  narrator.tell('The person allows eight rounds at most, until the last file is there:')
  narrator.show('/next arm --rounds 8 --until "test -f main.ts"', said(1))
  const words = textsOf(model.requests.at(-1), 'user')
  const rounds = words.filter(text => files.some(file => text.includes(`Write ${file}`)) && !text.startsWith('Write parse.ts,'))
  narrator.show('what reached the model at the beginning of each round', rounds.join('\n'))
  narrator.check('three rounds ran', rounds.length === 3)
  narrator.check(
    'the files are there',
    files.every(file => existsSync(join(repository.root, file))),
  )
  narrator.show('/next, afterwards', said(2))
  narrator.check('it stopped because the condition held', /until|condition/i.test(said(2)))

  narrator.tell('The loop is armed again, and the person writes something:')
  narrator.show('/next, afterwards', said(4))
  narrator.check('a word of the person ended it', /you|person|human/i.test(said(4)) && !/autorun \d/i.test(said(4)))
}
