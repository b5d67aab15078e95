/**
 * Imported first: a Node that is too old ends here in one line, before anything is loaded that it does not have. A host's hook gets its empty
 * answer all the same, since hooks end with 0.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19) || major === 23) {
  process.stderr.write(
    `NODE_TOO_OLD: outrigger runs on Node 22.19 or a newer 22, or on 24 and later; this is ${process.versions.node}\n` +
      '  hint: install Node 24 (for one project: npm install --save-dev node@24) and run the command again\n',
  )
  if (process.argv[2] === 'hook') process.stdout.write('{}\n')
  process.exit(process.argv[2] === 'hook' ? 0 : 3)
}
