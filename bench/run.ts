/**
 * `npm run bench -- <name>…`: without a name, every bench that is quick. Each prints a table with medians; nothing here is a test.
 */
const benches: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>>> = {
  companion: () => import('./companion.ts'),
  'companion-history': () => import('./companion-history.ts'),
  doors: () => import('./doors.ts'),
  dsh: () => import('./dsh.ts'),
  keel: () => import('./keel.ts'),
  'keel-crash': () => import('./keel-crash.ts'),
  next: () => import('./next.ts'),
  pack: () => import('./pack.ts'),
  'pack-crash': () => import('./pack-crash.ts'),
  repl: () => import('./repl.ts'),
  'repl-crash': () => import('./repl-crash.ts'),
  'repl-recovery': () => import('./repl-recovery.ts'),
}

const [name, ...rest] = process.argv.slice(2)
const wanted = name === undefined ? ['keel'] : [name]
for (const each of wanted) {
  const load = benches[each]
  if (load === undefined) {
    console.error(`no bench "${each}"; there are: ${Object.keys(benches).join(', ')}`)
    process.exit(2)
  }
  await (await load()).run(rest)
}
