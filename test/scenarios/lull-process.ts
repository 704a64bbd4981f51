/** The program itself, as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { storeVariables } from '../support/test-store.ts'

const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface LullProcess {
  readonly child: ChildProcess
  /** Resolves to the first line of stdout from now on that matches; rejects when the process ends before. */
  said(pattern: RegExp): Promise<string>
  /** The same for stderr. */
  warned(pattern: RegExp): Promise<string>
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

export interface HowToStart {
  /** Run by the shell first, say a `ulimit`. */
  readonly before?: string | undefined
  /** Another build of the program. */
  readonly main?: string | undefined
}

export function lull(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { before = 'true', main = built }: HowToStart = {},
): LullProcess {
  const node = [process.execPath, main, ...args]
  const data = args[args.indexOf('--data') + 1] ?? env['LULL_DATA']
  const store = data === undefined ? {} : storeVariables(data)
  const child = spawn('sh', ['-c', `${before}; exec "$@"`, 'sh', ...node], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...store, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: string[] = []
  const err: string[] = []
  const listeners = new Set<() => void>()
  createInterface(child.stdout).on('line', (line) => {
    out.push(line)
    for (const listener of listeners) listener()
  })
  createInterface(child.stderr).on('line', (line) => {
    err.push(line)
    for (const listener of listeners) listener()
  })
  let over = false
  const ended = once(child, 'close').then(([code]): Ended => {
    over = true
    for (const listener of listeners) listener()
    return { code, out: out.join('\n'), err: err.join('\n') }
  })

  const lineOf = (lines: readonly string[], pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const line = lines.find((one) => pattern.test(one))
        if (line === undefined && !over) return
        listeners.delete(look)
        if (line !== undefined) resolve(line)
        else reject(new Error(`ended without saying ${pattern}:\n${[...out, ...err].join('\n')}`))
      }
      listeners.add(look)
      look()
    })

  return {
    child,
    ended,
    signal: (name) => child.kill(name),
    said: (pattern) => lineOf(out, pattern),
    warned: (pattern) => lineOf(err, pattern),
  }
}

/** A server that serves; its address. */
export async function serving(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  how: HowToStart = {},
): Promise<LullProcess & { readonly url: string }> {
  const server = lull([...args, '--json'], env, how)
  const { url } = JSON.parse(await server.said(/^\{"url"/)) as { url: string }
  return { ...server, url }
}
