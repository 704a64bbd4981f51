/** acpx, the headless client, unmodified: one process per command, and one of its own that owns the agent for a while. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Any } from './generations.ts'
import type { Harness } from './harness.ts'

const program = createRequire(import.meta.url).resolve('acpx')

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly errors: string
  /** With `--format json` it prints what passed, in both directions. */
  readonly messages: readonly Any[]
}

export interface Acpx {
  run(...args: readonly string[]): Promise<Ran>
  /** Ends the processes it left behind. */
  close(): Promise<void>
}

export function createAcpx(harness: Harness, command: readonly string[] = harness.command): Acpx {
  const agent = command.map((word) => `'${word}'`).join(' ')
  const home = harness.env['HOME'] ?? ''
  const usual = ['--agent', agent, '--cwd', harness.cwd, '--format', 'json', '--ttl', '60']

  return {
    run: (...args) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [program, ...usual, ...args], {
          cwd: harness.cwd,
          env: { ...process.env, ...harness.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let out = ''
        let errors = ''
        child.stdout.setEncoding('utf8').on('data', (chunk) => {
          out += chunk
        })
        child.stderr.setEncoding('utf8').on('data', (chunk) => {
          errors += chunk
        })
        child.once('close', (code) => {
          const messages = out
            .split('\n')
            .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
          resolve({ code, out, errors, messages })
        })
      }),
    async close() {
      const queues = join(home, '.acpx', 'queues')
      for (const name of existsSync(queues) ? readdirSync(queues) : []) {
        if (!name.endsWith('.lock')) continue
        const { pid } = JSON.parse(readFileSync(join(queues, name), 'utf8')) as { pid: number }
        if (isAlive(pid)) process.kill(pid, 'SIGKILL')
        while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
