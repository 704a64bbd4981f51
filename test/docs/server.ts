/** `npm start`, as the README says it, on a port and a directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { root } from './documents.ts'

export interface Started {
  readonly url: string
  readonly directory: string
  readonly data: string
  /** `npm start` once more, after somebody killed it. */
  again(): Promise<void>
  /** Ctrl-C as a terminal with npm does it; the exit code. */
  stop(): Promise<number | null>
}

export async function npmStart(): Promise<Started> {
  const directory = mkdtempSync(join(tmpdir(), 'lull-docs-'))
  const data = join(directory, 'data')
  const port = `${await freePort()}`
  let child = spawnStart(port, data)
  const url = await urlSaid(child)
  return {
    url,
    directory,
    data,
    async again() {
      // It ends by itself only when it was killed: what is left of it goes with its pipe.
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      child = spawnStart(port, data)
      await urlSaid(child)
    },
    async stop() {
      const ended = once(child, 'exit')
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      const [code] = (await ended) as [number | null]
      rmSync(directory, { recursive: true })
      return code
    },
  }
}

function spawnStart(port: string, data: string): ChildProcess {
  return spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PORT: port, LULL_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, so that a signal to it reaches npm and the server, like Ctrl-C does.
    detached: true,
  })
}

async function urlSaid(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('npm start has no output')
  for await (const line of createInterface(child.stdout)) {
    const url = /serving at (http:\S+?),/.exec(line)?.[1]
    if (url !== undefined) {
      child.stdout.resume()
      return url
    }
  }
  throw new Error('npm start ended without serving')
}
