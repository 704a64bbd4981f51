#!/usr/bin/env node
/**
 * The program `lull`. It has no static imports, so that it can report an import that fails because too few files can be opened.
 */
try {
  const { start } = await import('./start.ts')
  await start()
} catch (error) {
  const tooFewFiles = error instanceof Error && 'code' in error && error.code === 'EMFILE'
  if (!tooFewFiles) throw error
  process.stderr.write(
    'lull: The process may not open enough files; raise its limit (ulimit -n).\n',
  )
  process.exit(1)
}
