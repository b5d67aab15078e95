/**
 * A seeded corpus of Markdown documents with stamped edges, as a git repository. Same arguments, same bytes.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface CorpusSize {
  readonly documents: number
  /** Share of the documents that declare sources, 0–1. */
  readonly declaring: number
  readonly averageKb: number
  readonly sourcesPerChild: number
}

/** The two sizes that the targets speak of: 500 children with 1,500 edges, 2,000 with 6,000. */
export const corpora: Readonly<Record<string, CorpusSize>> = {
  '10k': { documents: 10_000, declaring: 0.05, averageKb: 4, sourcesPerChild: 3 },
  '100k': { documents: 100_000, declaring: 0.02, averageKb: 2.2, sourcesPerChild: 3 },
}

const words = 'the quick brown fox policy ledger rate table source derived section stamp agent session budget decision'.split(' ')
const documentsPerFolder = 100

/** Write the corpus into `folder` and commit it. */
export function writeCorpus(folder: string, size: CorpusSize): { readonly edges: number; readonly children: number } {
  const random = seeded(0x9e3779b9)
  const pathOf = (index: number) => {
    const shelf = Math.floor(index / documentsPerFolder)
    return `d${pad(Math.floor(shelf / 50), 3)}/s${pad(shelf, 4)}/note-${pad(index, 6)}.md`
  }
  const sources = Math.ceil(size.documents * (1 - size.declaring))
  const stamps: string[] = []
  const made = new Set<string>()
  let edges = 0
  for (let index = 0; index < size.documents; index++) {
    const path = join(folder, pathOf(index))
    if (!made.has(dirname(path))) {
      mkdirSync(dirname(path), { recursive: true })
      made.add(dirname(path))
    }
    let text = ''
    if (index >= sources) {
      text += `---\ntitle: derived ${index}\nsources:\n`
      for (let k = 0; k < size.sourcesPerChild; k++) {
        const source = Math.floor(random() * sources)
        text += `  - ${pathOf(source)} @${stamps[source]}\n`
        edges++
      }
      text += '---\n'
    }
    text += `# Note ${index}\n\n`
    const length = size.averageKb * 1024 * (0.25 + 1.5 * random())
    for (let heading = 0; text.length < length; heading++)
      text += `## Section ${heading}\n\n${paragraph(random, 300)}\n\`\`\`sh\n## not a heading\n\`\`\`\n`
    if (index < sources) stamps.push(stampOf(text))
    writeFileSync(path, text)
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: folder, stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'corpus')
  return { edges, children: size.documents - sources }
}

const pad = (value: number, digits: number) => String(value).padStart(digits, '0')
const stampOf = (text: string) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0`)
    .update(text)
    .digest('hex')
    .slice(0, 12)

function paragraph(random: () => number, length: number): string {
  let text = ''
  while (text.length < length) text += `${words[Math.floor(random() * words.length)]} `
  return `${text.trimEnd()}\n`
}

/** A small generator with a 32-bit state; good enough for sizes and choices. */
function seeded(start: number): () => number {
  let state = start
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0
    return state / 4294967296
  }
}
