/** A watch outlives the server: killed without warning, twice, it goes on where it was, in every version and binding. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Client, connect, type TaskFrame } from '../../src/client/index.ts'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, serving } from './lull-process.ts'

let directory: string
let processes: LullProcess[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-watch-'))
  processes = []
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  rmSync(directory, { recursive: true })
})

async function start(port: number) {
  const args = ['serve', '--script', '--port', `${port}`, '--data', join(directory, 'data')]
  const server = await serving(args)
  processes.push(server)
  return server
}

async function emit(url: string, type: string, subject: string): Promise<void> {
  const emitted = await fetch(`${url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify({ specversion: '1.0', id: subject, source: 'test', type, subject }),
  })
  expect(emitted.status).toBe(202)
}

interface Watcher {
  readonly frames: readonly TaskFrame[]
  readonly lost: () => number
  readonly over: Promise<void>
}

function watching(client: Client, taskId: string): Watcher {
  const frames: TaskFrame[] = []
  let lost = 0
  const onLost = (): void => {
    lost++
  }
  const read = async (): Promise<void> => {
    for await (const frame of client.watch(taskId, { onLost })) frames.push(frame)
  }
  return { frames, lost: () => lost, over: read() }
}

const stopsIn = (frames: readonly TaskFrame[]): number =>
  frames.filter((one) => one.kind === 'status' && one.state === 'paused-by-agent').length

const wires = [
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
] as const

it('repeats no frame and loses none when the server is killed and started again', async () => {
  const port = await freePort()
  let server = await start(port)
  const { url } = server
  const clients = await Promise.all(
    wires.map(([version, binding]) => connect(url, { version, binding })),
  )
  // It stops after every stretch, so that it cannot end before both deaths.
  const stretch = (name: string) => [
    { repeat: 30, ops: [{ step: 'tick', ms: 20 }, { say: 'tick' }] },
    { park: { reason: name, conditions: { onEvent: `go:${name}` } } },
  ]
  const script = [
    ...stretch('one'),
    ...stretch('two'),
    { artifact: { name: 'a', text: 'abcdef', chunks: 3 } },
    { complete: 'done' },
  ]
  const [first] = clients
  const sent = await first?.send([{ data: { script } as never }], { returnImmediately: true })
  const taskId = sent?.kind === 'task' ? sent.task.id : ''
  const watchers = clients.map((client) => watching(client, taskId))

  const counts = (): readonly number[] => watchers.map(({ frames }) => frames.length)
  let before = watchers.map(() => 0)
  for (const [nth, name] of ['one', 'two'].entries()) {
    // Every watcher has read something of this stretch, so every watcher is connected.
    await expect
      .poll(() => counts().every((count, index) => count > (before[index] ?? 0) + 5))
      .toBe(true)
    server.signal('SIGKILL')
    await server.ended
    server = await start(port)
    await expect.poll(() => watchers.every(({ frames }) => stopsIn(frames) > nth)).toBe(true)
    before = [...counts()]
    await emit(url, 'go', name)
  }
  await Promise.all(watchers.map(({ over }) => over))

  for (const [index, { frames, lost }] of watchers.entries()) {
    const [snapshot, ...rest] = frames
    expect(snapshot?.kind).toBe('task')
    expect(lost()).toBeGreaterThanOrEqual(2)
    // What the log says happened after the snapshot, read in one piece.
    const whole: TaskFrame[] = []
    for await (const frame of clients[index]?.watch(taskId, { after: snapshot?.cursor }) ?? []) {
      whole.push(frame)
    }
    expect(rest).toEqual(whole)
    expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    expect(rest.some((frame) => frame.kind === 'task')).toBe(false)
  }
})

it('continues the stream of a send, and ends it where the agent asks', async () => {
  const port = await freePort()
  const server = await start(port)
  const client = await connect(server.url)
  const script = [
    { say: 'before' },
    { park: { reason: 'wait', conditions: { onEvent: 'go:one' } } },
    { ask: 'And now?' },
  ]
  const frames: TaskFrame[] = []
  const reading = (async () => {
    for await (const frame of client.stream([{ data: { script } as never }])) frames.push(frame)
  })()
  const parked = (): boolean =>
    frames.some((one) => one.kind === 'status' && one.state === 'paused-by-agent')
  await expect.poll(parked).toBe(true)
  server.signal('SIGKILL')
  await server.ended
  await start(port)
  await emit(server.url, 'go', 'one')
  await reading
  const states = frames.flatMap((one) => (one.kind === 'status' ? [one.state] : []))
  expect(states.slice(-3)).toEqual(['paused-by-agent', 'working', 'input-required'])
  expect(new Set(frames.map(({ cursor }) => cursor)).size).toBe(frames.length)
})
