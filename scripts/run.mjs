/** Child processes for the scripts here. Needs nothing but Node: it also runs before the first install. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const windows = process.platform === 'win32'
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Progress goes to stderr, so that stdout stays the command's own. */
export const say = (line) => process.stderr.write(`lull: ${line}\n`)

/**
 * Runs a program of `node_modules/.bin` or of the machine at the root of the clone; resolves to its exit code.
 * A signal that stops this process is passed on first, so that nothing is left running behind it.
 * `quiet` sends the program's output to stderr and gives it no input; `output` is a file descriptor that gets it all.
 */
export function run(command, args, { quiet = false, output } = {}) {
  const path = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: path },
    shell: windows,
    stdio: stdioFor(quiet, output),
  })
  let stoppedBy
  const pass = (signal) => {
    stoppedBy = signal
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, pass)

  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      for (const name of signals) process.off(name, pass)
      if (stoppedBy !== undefined) process.exit(128 + constants.signals[stoppedBy])
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}

function stdioFor(quiet, output) {
  if (output !== undefined) return ['ignore', output, output]
  return quiet ? ['ignore', 2, 2] : 'inherit'
}
