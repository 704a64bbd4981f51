/** A real server in a process of its own that tells how long a request held its event loop. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface ProbedServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly data: string
  /** Milliseconds of work that held the event loop at once, at most, since the last question. */
  longest(): Promise<number>
  /** Milliseconds that a fixed piece of work takes there. */
  reference(): Promise<number>
  /** Bytes of memory that the process uses. */
  memory(): Promise<number>
  readonly alive: () => boolean
}

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const probe = new URL('./loop-probe.mjs', import.meta.url).href

/** @param config what its configuration file says */
export async function openProbedServer(config: object = {}): Promise<ProbedServer> {
  const data = await mkdtemp(join(tmpdir(), 'lull-hostile-'))
  const file = join(data, 'config.json')
  await writeFile(file, JSON.stringify(config))
  const args = ['serve', '--script', '--port', '0', '--data', data, '--config', file, '--json']
  const child = fork(main, args, {
    env: { ...process.env, LOG_LEVEL: 'error' },
    execArgv: ['--import', probe],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const { stdout } = child
  if (stdout === null) throw new Error('the server has no output')
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(stdout).on('line', (line) => {
      if (line.startsWith('{"url"')) resolve((JSON.parse(line) as { url: string }).url)
    })
    ended.then(() => reject(new Error('the server ended before it served'))).catch(reject)
  })
  async function ask<K extends 'longest' | 'reference' | 'memory'>(question: K): Promise<number> {
    const answered = once(child, 'message')
    child.send(question)
    const [answer] = (await answered) as [Record<K, number>]
    return answer[question]
  }
  return {
    url,
    port: Number(new URL(url).port),
    data,
    longest: () => ask('longest'),
    reference: () => ask('reference'),
    memory: () => ask('memory'),
    alive: () => child.exitCode === null,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await rm(data, { recursive: true, force: true })
    },
  }
}
