/** Runs the command line of this process. Only this file and `main.ts` have side effects. */
import { findCommand, runCli } from './run-cli.ts'
import { createTerminal } from './terminal.ts'

export async function start(): Promise<void> {
  const args = process.argv.slice(2)

  // stdout fails when its reader has closed it, as in `lull tasks list | head -1`.
  process.stdout.on('error', () => {
    if (findCommand(args)?.serves !== true) process.exit(0)
  })
  process.stderr.on('error', () => undefined)

  const code = await runCli(args, createTerminal(process))
  // A normal exit of Node removes the signal handlers first, so that a second Ctrl-C could still kill the process.
  if (findCommand(args)?.serves === true) process.exit(code)
  process.exitCode = code
}
