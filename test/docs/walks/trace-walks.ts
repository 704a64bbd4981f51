/** Makes the request of each walk of `docs/architecture.md` on a real process, and returns the files that ran for it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../documents.ts'

type Files = readonly string[]

interface Told {
  readonly said?: string
  readonly url?: string
  readonly files?: Files
}

interface Traced {
  /** The next message of the program of this kind. */
  next(wanted: (told: Told) => boolean): Promise<Told>
  says(word: string): Promise<Told>
  /** The files that ran since the last call, or since the process started. */
  files(): Promise<Files>
  readonly child: ChildProcess
  kill(): Promise<void>
}

const folder = join(root, 'test/docs/walks')

/** How to kill each program that still runs. */
const running = new Set<() => Promise<void>>()

function startProgram(mode: 'serve' | 'acp' | 'cluster', data: string): Traced {
  const args = ['--import', join(folder, 'record-files.mjs'), join(folder, 'program.mjs')]
  const child = spawn(process.execPath, [...args, mode, data], {
    cwd: root,
    env: { ...process.env, LULL_DATA: data, LOG_LEVEL: 'error' },
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit')
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await gone
    running.delete(kill)
  }
  running.add(kill)
  const next = (wanted: (told: Told) => boolean): Promise<Told> =>
    new Promise((resolve, reject) => {
      const listen = (told: Told): void => {
        if (!wanted(told)) return
        child.off('message', listen)
        resolve(told)
      }
      child.on('message', listen)
      gone.then(() => reject(new Error(`the program (${mode}) ended`)), reject)
    })
  return {
    child,
    next,
    says: (word) => next(({ said }) => said === word),
    async files() {
      const answer = next(({ files }) => files !== undefined)
      child.send('files')
      return (await answer).files ?? []
    },
    kill,
  }
}

export type WalkName = 'send' | 'step' | 'pause' | 'event' | 'suspend' | 'deadline' | 'cluster'

export async function traceWalks(): Promise<Readonly<Record<WalkName, Files>>> {
  const data = mkdtempSync(join(tmpdir(), 'lull-walks-'))
  try {
    const [onServer, suspend, cluster] = await Promise.all([
      traceServer(join(data, 'server')),
      traceEditor(join(data, 'editor')),
      traceCluster(join(data, 'cluster')),
    ])
    return { ...onServer, suspend, cluster }
  } finally {
    await Promise.all([...running].map((kill) => kill()))
    rmSync(data, { recursive: true })
  }
}

type OnServer = Readonly<Record<Exclude<WalkName, 'suspend' | 'cluster'>, Files>>

async function traceServer(data: string): Promise<OnServer> {
  const first = await startServer(data)
  // The first request of a process also fills caches. The second one is traced.
  await send(first.url, 'fast')
  await first.files()
  first.child.send('time passes')
  await send(first.url, 'fast')
  const sent = await first.files()
  const step = await traceStep(first)
  const pause = await tracePause(first)
  await send(first.url, 'build', { returnImmediately: true })
  await first.files()
  await first.kill()

  const second = await startServer(data)
  await second.files()
  const woken = second.says('done')
  await emit(second.url)
  await woken
  const event = await second.files()
  await send(second.url, 'park', { returnImmediately: true })
  await second.files()
  const deadline = Date.now() + PARKED_MS
  await second.kill()
  while (Date.now() < deadline) await sleep(PARKED_MS)

  const third = startProgram('serve', data)
  await third.says('loaded')
  await third.files()
  const resumed = third.says('done')
  third.child.send('serve')
  await resumed
  return { send: sent, step, pause, event, deadline: await third.files() }
}

async function startServer(data: string): Promise<Traced & { readonly url: string }> {
  const program = startProgram('serve', data)
  await program.says('loaded')
  const serves = program.says('serves')
  program.child.send('serve')
  const { url = '' } = await serves
  return { ...program, url }
}

type Server = Awaited<ReturnType<typeof startServer>>

async function traceStep({ url, child, says, files }: Server): Promise<Files> {
  const before = says('before the step')
  await send(url, 'step', { returnImmediately: true })
  await before
  await files()
  const after = says('after the step')
  child.send('begin the step')
  await after
  const step = await files()
  child.send('end')
  return step
}

async function tracePause({ url, says, files }: Server): Promise<Files> {
  const working = says('works')
  const { task } = await send(url, 'slow', { returnImmediately: true })
  await working
  const stream = await call(url, 'SubscribeToTask', { id: task.id })
  await files()
  const pause = { taskId: task.id, reason: 'lunch', mode: 'interrupt_immediate' }
  await rpc(url, 'tasks/pause', pause)
  const paused = await files()
  await stream.body?.cancel()
  return paused
}

/** The timeout of the task that parks (`program.mjs`). It does not fire before the restart: see `record-files.mjs`. */
const PARKED_MS = 300

interface Sent {
  readonly task: { readonly id: string }
}

async function send(url: string, text: string, configuration = {}): Promise<Sent> {
  const message = { role: 'ROLE_USER', messageId: crypto.randomUUID(), parts: [{ text }] }
  return (await rpc(url, 'SendMessage', { message, configuration })) as Sent
}

function call(url: string, method: string, params: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

async function rpc(url: string, method: string, params: object): Promise<unknown> {
  const response = await call(url, method, params)
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

async function emit(url: string): Promise<void> {
  const event = { specversion: '1.0', id: '1', source: '/ci', type: 'build.done', subject: '1234' }
  const { status } = await fetch(`${url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  })
  if (status !== 202) throw new Error(`POST /events: ${status}`)
}

async function traceEditor(data: string): Promise<Files> {
  const program = startProgram('acp', data)
  const waiting = new Map<number, (result: { readonly sessionId: string }) => void>()
  const lines = createInterface({ input: program.child.stdout ?? process.stdin })
  lines.on('line', (line) => {
    const { id, result, error } = JSON.parse(line)
    if (error !== undefined) throw new Error(line)
    waiting.get(id)?.(result)
  })
  let last = 0
  const ask = (method: string, params: object): Promise<{ readonly sessionId: string }> => {
    const id = ++last
    const message = { jsonrpc: '2.0', id, method, params }
    program.child.stdin?.write(`${JSON.stringify(message)}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  await ask('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await ask('session/new', { cwd: root, mcpServers: [] })
  const working = program.says('works')
  ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'slow' }] }).catch(
    () => undefined,
  )
  await working
  await program.files()
  await ask('_session/suspend', { sessionId, mode: 'interrupt_immediate' })
  const files = await program.files()
  await program.kill()
  return files
}

async function traceCluster(data: string): Promise<Files> {
  const program = startProgram('cluster', data)
  await program.says('serves')
  await program.files()
  const done = program.says('done')
  program.child.send('emit')
  await done
  const files = await program.files()
  await program.kill()
  return files
}
