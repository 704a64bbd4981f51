#!/usr/bin/env node
/**
 * The program `lull`. It has no static imports, so that an import that fails for want of file descriptors is reported.
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
