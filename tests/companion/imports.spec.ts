import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanJavaScript } from '../../src/companion/imports/scan-javascript.ts'
import { scanJava, scanPython } from '../../src/companion/imports/scan-others.ts'

describe('imports of a script', () => {
  it.each([
    ["import a from './a'", ['./a']],
    ["import './a'", ['./a']],
    ["import type { A } from './a'", ['./a']],
    ["import a, { b as c, 'd e' as f } from './a'", ['./a']],
    ["import * as a from './a' with { type: 'json' }", ['./a']],
    ["import a = require('./a')", ['./a']],
    [
      "export * from './a'\nexport * as b from './b'\nexport { c } from './c'\nexport type { D } from './d'",
      ['./a', './b', './c', './d'],
    ],
    ["const a = await import('./a')", ['./a']],
    ['const a = import(`./a`)', ['./a']],
    ["const a = require('./a')", ['./a']],
    ["if (x) { const a = require ( './a' ) }", ['./a']],
    ["import {\n  a, // import b from './b'\n  c,\n} from './a'", ['./a']],
    ["#!/usr/bin/env node\nimport a from './a'", ['./a']],
    ["const a = /['\"`]/; import('./b')", ['./b']],
    ["const a = b / 2; import('./c') / 3", ['./c']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code that is read
    ["const a = `x ${ require('./a') } import('./b')`", ['./a']],
    ["const a = <p className=\"x\">import b from './b' don't {require('./c')}</p>\nimport('./d')", ['./c', './d']],
    ["const f = <T,>(x: T) => x\nimport('./a')", ['./a']],
    ["const f = <T extends object>(x: T) => require('./a')", ['./a']],
  ])('are found in %j', (text, found) => {
    expect(scanJavaScript(text)).toEqual(found)
  })

  it.each([
    "// import a from './a'",
    "/* import a from './a' */",
    'const a = "import b from \'./b\'"',
    "const a = `import b from './b'`",
    'const a = \'require("./b")\'',
    "const a = /import('.\\/b')/",
    "foo.require('./a')",
    "foo.import('./a')",
    'import(name)',
    "require('./a' + b)",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code that is read
    'import(`./${a}`)',
    'import.meta.url',
    "const a = <pre>\nimport React from 'react'\n</pre>",
    "const x = { import: './a' }",
  ])('are none in %j', text => {
    expect(scanJavaScript(text)).toEqual([])
  })

  it('come to an end in whatever is given', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'import from require("\'`/<>{}()$;\n\\* =./a'.split(''), 'import ', 'from ') }),
        text => {
          expect(Array.isArray(scanJavaScript(text))).toBe(true)
        },
      ),
    )
    const deep = `${'('.repeat(20_000)}${'`${'.repeat(20_000)}${'<a>'.repeat(20_000)} import from`
    expect(scanJavaScript(deep)).toEqual([])
  })
})

describe('imports of Python', () => {
  it('are found, strings and comments aside', () => {
    const text =
      '"""import x"""\nimport a.b, c as d\nfrom .. import e\nfrom .f import (g,\n  h as i)  # import z\nx = \'import y\'\n'
    expect(scanPython(text)).toEqual([
      { up: 0, module: 'a.b', names: [] },
      { up: 0, module: 'c', names: [] },
      { up: 2, module: '', names: ['e'] },
      { up: 1, module: 'f', names: ['g', 'h'] },
    ])
  })
})

it('imports of Java are dotted names', () => {
  expect(scanJava('package x;\n// import a.B;\nimport a.b.C;\nimport static d.E.f;\nString s = "import g.H;";\n')).toEqual([
    'a.b.C',
    'd.E.f',
  ])
})
