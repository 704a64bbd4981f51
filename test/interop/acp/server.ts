/** `lull serve` as a process, and its tasks as the official A2A client sees them. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Role } from 'a2a-js-v1'
import { type Client, ClientFactory } from 'a2a-js-v1/client'
import type { Any } from './generations.ts'
import type { Harness } from './harness.ts'

export interface Server {
  readonly url: string
  kill(): Promise<void>
}

export async function startServer(harness: Harness): Promise<Server> {
  const [program = '', ...args] = harness.lull('serve', '--port', '0', '--json')
  const child = spawn(program, args, {
    cwd: harness.cwd,
    env: { ...process.env, ...harness.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stderr: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line))
  harness.record({ lines: [], stderr })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const said = createInterface({ input: child.stdout })
  const line = await new Promise<string>((resolve) => said.once('line', resolve))
  return {
    url: (JSON.parse(line) as { url: string }).url,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

export const a2aClient = (url: string): Promise<Client> => new ClientFactory().createFromUrl(url)

/** Control methods, which official clients do not have. */
export async function control(url: string, method: string, params: object): Promise<Any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as Any
  if (error !== undefined) throw new Error(JSON.stringify(error))
  return result
}

/** A request of the official client, which does not wait for the end. */
export function message(value: object, some: object = {}): never {
  const content = { $case: 'data', value }
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...some,
    },
    configuration: { returnImmediately: true, acceptedOutputModes: [] },
    metadata: undefined,
  } as never
}
