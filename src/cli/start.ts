/** Runs the command line of this process. The only file here that starts anything. */
import { findCommand, runCli } from './run-cli.ts'
import { createTerminal } from './terminal.ts'

export async function start(): Promise<void> {
  const args = process.argv.slice(2)

  // The reader of our output went away, as in `lull tasks list | head -1`.
  process.stdout.on('error', () => {
    if (findCommand(args)?.serves !== true) process.exit(0)
  })
  process.stderr.on('error', () => undefined)

  const code = await runCli(args, createTerminal(process))
  // Left to itself, Node removes its signal handlers first, and the second half of a double Ctrl-C could still kill it.
  if (findCommand(args)?.serves === true) process.exit(code)
  process.exitCode = code
}
