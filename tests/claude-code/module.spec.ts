import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildClaudeCode } from '../../scripts/build-claude-code.mjs'

const folder = mkdtempSync(join(tmpdir(), 'outrigger-module-'))
const plugin = join(folder, 'plugin')
beforeAll(async () => {
  await buildClaudeCode(plugin, { version: '1.2.3' })
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs `ui.render` of an answer where, as in the host's realm, there is nothing of Node. */
function drawn(text: string): unknown {
  const script = join(plugin, 'draw.mjs')
  writeFileSync(
    script,
    `globalThis.h = (tag, props, ...children) => ({ tag, props, children })
     const { register } = await import('./hooks/register.js')
     const hooks = []
     register((name, matcher, hook) => { hooks.push({ name, matcher, hook }); return { catch() {} } })
     const { hook } = hooks.find(({ name, matcher }) => name === 'ui.render' && matcher.component === 'AssistantMessage')
     delete globalThis.Buffer
     const $ = { ui: { resolve: () => ({ Box: 'Box', Text: 'Text', Button: 'Button' }) } }
     const e = { requestId: 'r', props: { text: ${JSON.stringify(text)} } }
     console.log(JSON.stringify(await hook($, e, async given => ({ drawn: given.props.text }))))`,
  )
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }))
}

describe('the module of the plugin', () => {
  it('imports nothing and declares every function that takes the host', () => {
    const source = readFileSync(join(plugin, 'hooks/register.js'), 'utf8')
    expect(source).not.toMatch(/^\s*import\b/m)
    expect(source).toMatch(/^function register\(on\)/m)
    expect(source).not.toMatch(/^(var|const|let) \w+ = (async )?\(\$/m)
  })

  it('shows an answer without its checkpoint, with one line that names it', () => {
    expect(drawn('The ledger is new.\n\n<!-- ckpt\ndecision: x\n-->')).toMatchObject({
      tag: 'Box',
      children: [{ drawn: 'The ledger is new.' }, { tag: 'Button', props: { label: '▸ ckpt: decision' } }],
    })
  })

  it('passes an answer without one on as it is', () => {
    expect(drawn('The ledger is new.')).toEqual({ drawn: 'The ledger is new.' })
  })

  it('has the version of the package, and names no command twice', () => {
    expect(JSON.parse(readFileSync(join(plugin, '.claude-plugin/plugin.json'), 'utf8'))).toMatchObject({ version: '1.2.3' })
    // A skill of the plugin's own name would take /outrigger.
    expect(readFileSync(join(plugin, 'skills/checkpoints/SKILL.md'), 'utf8')).toMatch(/^name: checkpoints$/m)
  })
})

describe('the program of the plugin', () => {
  const loadedAtOnce = (path: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    const source = readFileSync(path, 'utf8')
    for (const [, found] of source.matchAll(/(?:^|;|\n)import\s*(?:[^"'();]*?from\s*)?["'](\.[^"']+)["']/g)) {
      loadedAtOnce(join(dirname(path), found!), seen)
    }
    return seen
  }

  it('loads at once little of what it is, since a host starts it all the time', () => {
    const paths = [...loadedAtOnce(join(plugin, 'bin/outrigger.mjs'))]
    expect(paths.length).toBeGreaterThan(1)
    expect(paths.reduce((bytes, path) => bytes + statSync(path).size, 0)).toBeLessThan(300_000)
  })

  it('runs from another place with nothing around it', () => {
    const copy = join(folder, 'copy')
    cpSync(plugin, copy, { recursive: true })
    const answer = execFileSync(process.execPath, [join(copy, 'bin/outrigger.mjs'), '--version'], { encoding: 'utf8' })
    expect(answer).toBe('1.2.3\n')
  })
})
