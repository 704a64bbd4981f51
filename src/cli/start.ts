/** Runs the command line of this process. Only this file and `main.ts` have side effects. */

import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { printable } from '../core/values/printable.ts'
import { untilStopped } from '../server/process/stop-signals.ts'
import type { Colour, Io } from './command.ts'
import { findCommand, runCli } from './run-cli.ts'
import { createLiveBlock } from './views/live-block.ts'

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

const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

/** The exit code that shells expect from a program ended by Ctrl-C. */
const INTERRUPTED = 130

/** Input and output of the process, with or without a terminal. */
function createTerminal({ stdin, stdout, stderr }: NodeJS.Process): Io {
  // `hasColors` also reads NO_COLOR and FORCE_COLOR.
  const coloured = stdout.isTTY === true && stdout.hasColors()
  const lively = stdout.isTTY === true && process.env['TERM'] !== 'dumb'
  const columns = (): number => stdout.columns || 80
  const block = createLiveBlock(columns)
  /** Whether the last text did not end its line. */
  let open = false

  /** Erases the live lines, writes, and draws them again below. */
  function above(write: () => void): void {
    stdout.write(`${block.erase()}${open ? '\n' : ''}`)
    open = false
    write()
    stdout.write(block.draw())
  }

  return {
    print: (line) => above(() => stdout.write(`${printable(line)}\n`)),
    write(unsafe) {
      const text = printable(unsafe)
      // Live lines would break the line of text that is being written.
      if (!open) stdout.write(block.erase())
      stdout.write(text)
      open = text !== '' && !text.endsWith('\n')
      if (!open) stdout.write(block.draw())
    },
    warn: (line) => above(() => stderr.write(`${printable(line)}\n`)),
    paint(colour, text) {
      const [on, off] = codes[colour]
      return coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text
    },
    live(lines) {
      if (!lively) return
      block.set(lines.map(printable))
      if (!open) stdout.write(`${block.erase()}${block.draw()}`)
    },
    size: () => (lively ? { columns: columns(), rows: stdout.rows || 24 } : undefined),
    interrupted(say) {
      const handler = (): void => {
        block.set([])
        above(() => stderr.write(`${printable(say())}\n`))
        process.exit(INTERRUPTED)
      }
      process.once('SIGINT', handler)
      return () => process.off('SIGINT', handler)
    },
    stopped: (close) =>
      untilStopped(
        {
          on: (signal, handler) => process.on(signal, handler),
          elapsed: () => performance.now(),
          exit: (code) => process.exit(code),
          say: (line) => stderr.write(`\n${printable(line)}\n`),
        },
        close,
      ),
    speak: () => ({ input: stdin, output: reserveStdout(stdout, stderr) }),
    self: ownCommand(fileURLToPath(import.meta.url)),
  }
}

/** How users start this program: in a clone as a script of the package, when installed as a binary of `node_modules`. */
function ownCommand(file: string): string {
  return /[\\/]node_modules[\\/]/.test(file) ? 'npx lull' : 'npm run -s lull --'
}

/** @returns a stream to stdout. All other writes to stdout go to stderr from now on. */
function reserveStdout(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk, (error) => done(error))
    },
  })
}
