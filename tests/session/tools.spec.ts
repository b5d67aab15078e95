import { describe, expect, it } from 'vitest'
import { canonicalTool, isShell, mayWrite, shellExit, touchedBy } from '../../src/session/tools.ts'

describe('the name of a tool', () => {
  it.each([
    ['Bash', 'bash'],
    ['Read', 'read'],
    ['Grep', 'grep'],
    ['Glob', 'glob'],
    ['Edit', 'edit'],
    ['Write', 'write'],
    ['MultiEdit', 'multi_edit'],
    ['NotebookEdit', 'notebook_edit'],
    ['WebFetch', 'WebFetch'],
    ['constructor', 'constructor'],
    ['mcp__outrigger__keel_ok', 'keel_ok'],
    ['mcp__plugin_outrigger_outrigger__edit_run_code', 'edit_run_code'],
    ['outrigger.keel_why', 'keel_why'],
    ['mcp__other__delete_all', 'mcp__other__delete_all'],
  ])('of %s is %s', (host, ours) => {
    expect(canonicalTool(host)).toBe(ours)
    expect(canonicalTool(ours)).toBe(ours)
  })
})

describe('what a tool may do', () => {
  it.each(['read', 'grep', 'glob', 'keel_check', 'keel_why', 'pack_load', 'repl_state', 'read_image'])('%s only reads', tool =>
    expect(mayWrite(tool)).toBe(false),
  )
  it.each([
    'edit',
    'bash',
    'pwsh',
    'apply_patch',
    'run_code',
    'edit_run_code',
    'keel_ok',
    'keel_fix',
    'pack_save',
    'never_heard_of',
    'toString',
  ])('%s may write', tool => expect(mayWrite(tool)).toBe(true))
  it('bash and pwsh are shells, a tool named like a part of Object is none', () => {
    expect(['bash', 'pwsh', 'constructor', 'Bash'].map(isShell)).toEqual([true, true, false, false])
  })
})

describe('the files of a call', () => {
  it.each([
    ['read', { file_path: 'a', path: 'b' }, ['a'], []],
    ['read_image', { path: 'b' }, ['b'], []],
    ['edit', { filePath: 'c' }, [], ['c']],
    ['write', { path: '', filePath: 'c' }, [], ['c']],
    ['notebook_edit', { notebook_path: 'n.ipynb' }, [], ['n.ipynb']],
    ['str_replace_editor', { command: 'create', path: 'x' }, [], ['x']],
    ['str_replace_editor', { command: 'view', path: 'x' }, ['x'], []],
    ['bash', { path: 'x', command: 'rm x' }, [], []],
    ['other', { file_path: 'x' }, [], []],
    ['edit', 'not an object', [], []],
    ['edit', null, [], []],
    ['edit', { path: 7 }, [], []],
  ])('%s %j', (tool, input, read, written) => {
    expect(touchedBy(tool, input)).toEqual({ read, written })
  })

  it('of a patch are those of its headers', () => {
    const patch =
      '*** Begin Patch\n*** Update File: src/a b.ts\n*** Move to: src/c.ts\n@@\n+*** Add File: no\n*** Add File: d.ts\r\n+x\n*** Delete File: e.ts\n*** End Patch'
    expect(touchedBy('apply_patch', { input: patch }).written).toEqual(['src/a b.ts', 'src/c.ts', 'd.ts', 'e.ts'])
    expect(touchedBy('apply_patch', patch).written).toHaveLength(4)
    expect(touchedBy('apply_patch', 5).written).toEqual([])
  })
})

describe('the exit code of a shell', () => {
  it.each([
    ['all good', true, 0],
    ['it broke', false, null],
    ['out\n[exit code: 3]', false, 3],
    ['out\n[exit code: 0]\n', true, 0],
    ['[exit code: -1]', false, -1],
    ['Exit code 1\nnpm ERR', false, 1],
    ['Error: Exit code 127\nnot found', false, 127],
    ['it said Exit code 1', false, null],
    ['[exit code: 3]\nmore', false, null],
    ['Exit code 2\nx\n[exit code: 5]', false, 5],
  ])('%j, ok %s: %s', (output, ok, exit) => {
    expect(shellExit(output, ok)).toBe(exit)
  })
})
