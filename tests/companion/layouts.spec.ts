/** Layouts as repositories have them, side by side in one tree: which test is named for which source, and for which none. */
import { expect, it } from 'vitest'
import { companionWorld } from '../support/companion-world.ts'

const files = {
  'js/package.json': '{"name":"js","main":"lib/entry.js"}',
  'js/lib/entry.js': "module.exports = require('./thing')\n",
  'js/lib/thing.js': 'module.exports = 1\n',
  'js/test/behaviour.js': "const js = require('..')\n",
  'plain/package.json': '{"name":"plain"}',
  'plain/index.js': '',
  'plain/test/all.js': "import plain from '../'\n",
  'aliased/package.json': '{"name":"aliased"}',
  'aliased/tsconfig.json': '{\n // paths\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}',
  'aliased/src/deep/money.ts': '',
  'aliased/e2e/flow.spec.ts': "import { money } from '@/deep/money'\n",
  'packages/a/package.json': '{"name":"@mono/a","main":"dist/index.js"}',
  'packages/a/src/index.ts': "export * from './core'\n",
  'packages/a/src/core.ts': '',
  'packages/b/package.json': '{"name":"@mono/b"}',
  'packages/b/test/use.test.ts': "import { core } from '@mono/a'\n",
  'vue/package.json': '{"name":"vue"}',
  'vue/src/Card.vue': '<script setup>\nconst a = 1\n</script>\n',
  'vue/src/__tests__/Card.spec.ts': "import Card from '../Card.vue'\n",
  'py/pyproject.toml': '[project]\nname = "py"\n',
  'py/pkg/__init__.py': '',
  'py/pkg/ledger.py': '',
  'py/pkg/tests/test_all.py': 'from ..ledger import book\n',
  'go/go.mod': 'module go\n',
  'go/run/run.go': '',
  'go/run/run_test.go': '',
  'rust/Cargo.toml': '[package]\nname = "rust"\n',
  'rust/src/lex.rs': 'fn lex() {}\n\n#[cfg(test)]\nmod tests;\n',
  'rust/src/lex/tests.rs': '',
  'rust/src/own.rs': '#[cfg(test)]\nmod tests {\n}\n',
  'rust/tests/own.rs': '',
  'java/pom.xml': '<project/>',
  'java/src/main/java/org/shop/Price.java': 'package org.shop;\n',
  'java/src/test/java/org/flow/FlowIT.java': 'package org.flow;\n\nimport org.shop.Price;\n',
}

const expected = [
  ['js/lib/entry.js', 'js/test/behaviour.js', 'it imports js/lib/entry.js'],
  ['js/lib/thing.js', 'js/test/behaviour.js', 'it imports js/lib/thing.js through js/lib/entry.js'],
  ['plain/index.js', 'plain/test/all.js', 'it imports plain/index.js'],
  ['aliased/src/deep/money.ts', 'aliased/e2e/flow.spec.ts', 'it imports aliased/src/deep/money.ts'],
  ['packages/a/src/core.ts', 'packages/b/test/use.test.ts', 'it imports packages/a/src/core.ts through packages/a/src/index.ts'],
  ['vue/src/Card.vue', 'vue/src/__tests__/Card.spec.ts', 'it imports vue/src/Card.vue'],
  ['py/pkg/ledger.py', 'py/pkg/tests/test_all.py', 'it imports py/pkg/ledger.py'],
  ['go/run/run.go', 'go/run/run_test.go', 'its name follows go/run/run.go'],
  ['rust/src/lex.rs', 'rust/src/lex/tests.rs', 'its name follows rust/src/lex.rs'],
  [
    'java/src/main/java/org/shop/Price.java',
    'java/src/test/java/org/flow/FlowIT.java',
    'it imports java/src/main/java/org/shop/Price.java',
  ],
] as const

it('have the tests of their sources named, and why', async () => {
  const world = await companionWorld(files)
  const paths = [...expected.map(([source]) => source), 'rust/src/own.rs']
  const named = (await world.verb('for', { paths })).paths.map(
    ({ path, companions }: { path: string; companions: { path: string; because: string[] }[] }) =>
      companions.length === 0 ? [path] : [path, ...companions.flatMap(each => [each.path, each.because[0]])],
  )
  // One with tests inside itself has no other.
  expect(named).toEqual([...expected, ['rust/src/own.rs']])
})
