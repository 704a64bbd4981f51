/**
 * Ends a serving process on signals. The first signal closes the server; a later one ends the
 * process at once. Under npm, Ctrl-C arrives twice, from the terminal and from npm, so a second
 * signal within `PAIR_MS` is ignored.
 */
import { describeError } from '../../core/values/describe-error.ts'
import { printable } from '../../core/values/printable.ts'

export interface StopDeps {
  readonly on: (signal: NodeJS.Signals, handler: () => void) => void
  /** Milliseconds that do not depend on the wall clock. */
  readonly elapsed: () => number
  readonly exit: (code: number) => void
  readonly say: (line: string) => void
}

const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Signals closer together than this count as one. */
const PAIR_MS = 1_000

/** The exit code that shells expect from a program ended by Ctrl-C. */
const INTERRUPTED = 130

/** Calls `close` at the first signal, and resolves when it has resolved. */
export async function untilStopped(deps: StopDeps, close: () => Promise<void>): Promise<void> {
  const { on, elapsed, exit, say } = deps
  let stoppingSince: number | undefined
  let begin: () => void = () => undefined
  const asked = new Promise<void>((resolve) => {
    begin = resolve
  })
  const handler = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = elapsed()
      say('Stopping: running turns finish first. Ctrl-C again ends it at once; nothing is lost.')
      begin()
    } else if (elapsed() - stoppingSince >= PAIR_MS) {
      exit(INTERRUPTED)
    }
  }
  // Handlers stay installed, so that a late signal does not kill a process that is about to exit
  // with code 0.
  for (const signal of signals) on(signal, handler)
  await asked
  await close()
}

/**
 * For programs that call `serve` without the command line. A signal closes the server and ends the process. When the program
 * has its own listener for a signal, the process is not ended. Returns a function that removes the listeners.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  const listening: (readonly [NodeJS.Signals, () => void])[] = []
  const others = (signal: NodeJS.Signals): number =>
    process.listenerCount(signal) - listening.filter(([name]) => name === signal).length
  const deps: StopDeps = {
    on(signal, handler) {
      process.on(signal, handler)
      listening.push([signal, handler])
    },
    elapsed: () => performance.now(),
    exit: (code) => process.exit(code),
    say: (line) => process.stderr.write(`${printable(line)}\n`),
  }
  untilStopped(deps, close).then(
    () => {
      if (signals.every((signal) => others(signal) === 0)) process.exit(0)
    },
    (error: unknown) => {
      process.stderr.write(
        `lull: could not stop cleanly: ${printable(describeError(error).message)}\n`,
      )
      process.exit(1)
    },
  )
  return () => {
    for (const [signal, handler] of listening) process.off(signal, handler)
  }
}
