import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface Process {
  readonly child: ChildProcess
  /** Resolves with all output, once it has that many lines. */
  readonly lines: (count: number) => Promise<readonly string[]>
  readonly kill: () => Promise<void>
  /** Ends the input of the process and waits for its exit. */
  readonly end: () => Promise<void>
}

/** A new directory for the running test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'lull-sqlite-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Runs a script of this folder from source, under `sh` after `before` (for example a `ulimit`). */
export function run(script: string, path: string, before = 'true'): Process {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const node = [process.execPath, '--import', 'tsx', file, path]
  const child = spawn('sh', ['-c', `${before}; exec "$@"`, 'sh', ...node], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const closed = once(child, 'close')
  let printed = ''
  let notify = (): void => undefined
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
    notify()
  })
  const complete = (): string[] => printed.split('\n').slice(0, -1)

  return {
    child,
    lines: (count) =>
      new Promise((resolve, reject) => {
        notify = () => complete().length >= count && resolve(complete())
        closed.then(() => resolve(complete()), reject)
        notify()
      }),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
    async end() {
      child.stdin.end()
      await closed
    },
  }
}
