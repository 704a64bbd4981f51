/** A server started by `serve` on a free port with its own data directory, called with plain fetch. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { demoAgents } from '../../src/demo/demo-agents.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { type Agent, type RunningServer, serve } from '../../src/server/serve.ts'
import type { Loose } from './examples.ts'

export interface Harness extends AsyncDisposable {
  readonly url: string
  /** For what operators do, which is not on the wire. */
  readonly engine: Engine
  /** Stops the server and starts another one on the same data. */
  restart(): Promise<void>
  /** A whole JSON-RPC request, as it stands, to the agent (default: the one at the root). */
  post(request: object, agent?: string, headers?: Record<string, string>): Promise<Loose>
  /** One call; the answer whole, with `result` or `error`. */
  call(method: string, params: object, agent?: string): Promise<Loose>
  /** One call that succeeds. */
  result(method: string, params: object, agent?: string): Promise<Loose>
  /** One call that fails, and how. */
  error(method: string, params: object, agent?: string): Promise<Loose>
  /** A message to the agent; blocking unless told otherwise. */
  say(text: string, message?: object, agent?: string): Promise<Loose>
  /** A script for the script agent (or one like it), without waiting for it to end. */
  script(ops: readonly object[], message?: object, agent?: string): Promise<Loose>
  get(taskId: string): Promise<Loose>
  /** The task, once it is in this state. */
  until(taskId: string, state: string): Promise<Loose>
  /** Everything the method streams, parsed, until the server ends it or the reader stops. */
  stream(
    method: string,
    params: object,
    headers?: Record<string, string>,
  ): AsyncGenerator<Loose, void>
  emit(event: object): Promise<void>
  card(agent?: string): Promise<Loose>
}

export interface HarnessOptions {
  readonly agents?: readonly Agent[]
  /** The configuration file. */
  readonly config?: object
}

export const NOTIFICATIONS: Record<string, string> = {
  'x-a2a-extensions': 'urn:lull:a2a:rfc-notifications:1',
}

export async function openHarness({
  agents = demoAgents,
  config,
}: HarnessOptions = {}): Promise<Harness> {
  const home = await mkdtemp(join(tmpdir(), 'lull-seeds-'))
  const file = join(home, 'config.json')
  if (config !== undefined) await writeFile(file, JSON.stringify(config))
  const start = (): Promise<RunningServer> =>
    serve({
      agents,
      port: 0,
      host: '127.0.0.1',
      data: join(home, 'data'),
      ...(config === undefined ? {} : { config: file }),
      log: () => undefined,
      quiet: true,
    })
  let serving = await start()
  const at = (agent: string | undefined): string =>
    agent === undefined ? serving.url : `${serving.url}/agents/${agent}`
  const started = new Set<string>()
  let count = 0

  async function post(
    request: object,
    agent?: string,
    headers: Record<string, string> = {},
  ): Promise<Loose> {
    const response = await fetch(at(agent), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(request),
    })
    const answer = (await response.json()) as Loose
    if (answer.result?.kind === 'task') started.add(answer.result.id)
    return answer
  }

  const call: Harness['call'] = (method, params, agent) =>
    post({ jsonrpc: '2.0', id: ++count, method, params }, agent)

  const result: Harness['result'] = async (method, params, agent) => {
    const answer = await call(method, params, agent)
    expect(answer, `${method} ${JSON.stringify(params)}`).not.toHaveProperty('error')
    return answer.result
  }

  const send = (parts: readonly object[], more: object, given: object, agent?: string) =>
    result(
      'message/send',
      { message: { role: 'user', messageId: `message-${++count}`, parts, ...more }, ...given },
      agent,
    )

  const get: Harness['get'] = (taskId) => result('tasks/get', { id: taskId })

  return {
    get url() {
      return serving.url
    },
    get engine() {
      return serving.engine
    },
    async restart() {
      await serving.close()
      serving = await start()
    },
    post,
    call,
    result,
    async error(method, params, agent) {
      const answer = await call(method, params, agent)
      expect(answer, `${method} ${JSON.stringify(params)}`).not.toHaveProperty('result')
      return answer.error
    },
    say: (text, message = {}, agent) => send([{ kind: 'text', text }], message, {}, agent),
    script: (ops, message = {}, agent = 'script') =>
      send(
        [{ kind: 'data', data: { script: ops } }],
        message,
        { configuration: { blocking: false } },
        agent,
      ),
    get,
    async until(taskId, state) {
      let task: Loose
      const reached = async (): Promise<string> => {
        task = await get(taskId)
        return task.status.state
      }
      await expect.poll(reached).toBe(state)
      return task
    },
    async *stream(method, params, headers = {}) {
      const gone = new AbortController()
      const response = await fetch(serving.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++count, method, params }),
        signal: gone.signal,
      })
      let text = ''
      try {
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk
          const frames = text.split('\n\n')
          text = frames.pop() ?? ''
          for (const frame of frames) {
            const data = /^data: (.*)$/m.exec(frame)?.[1]
            if (data === undefined) continue
            const parsed = JSON.parse(data)
            if (parsed.result?.kind === 'task') started.add(parsed.result.id)
            yield parsed
          }
        }
      } finally {
        gone.abort()
      }
    },
    async emit(event) {
      const response = await fetch(`${serving.url}/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json' },
        body: JSON.stringify({ specversion: '1.0', id: `${++count}`, source: 'test', ...event }),
      })
      expect(response.status).toBe(202)
    },
    async card(agent) {
      const response = await fetch(`${at(agent)}/.well-known/agent-card.json`)
      expect(response.status).toBe(200)
      return response.json()
    },
    async [Symbol.asyncDispose]() {
      // What still runs would be waited for: a stopping server lets a step finish.
      for (const id of started) await call('tasks/cancel', { id })
      await serving.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Frames up to the first that fits, that one included. */
export async function readUntil(
  frames: AsyncGenerator<Loose, void>,
  fits: (frame: Loose) => boolean,
): Promise<readonly Loose[]> {
  const found: Loose[] = []
  for (;;) {
    const { done, value } = await frames.next()
    if (done) throw new Error(`the stream ended after ${JSON.stringify(found)}`)
    found.push(value)
    if (fits(value)) return found
  }
}
