/**
 * A server without a socket: an engine on SQLite (or PostgreSQL) with the script agent, driven by its parent over the process channel.
 * It dies where it is told to, by SIGKILL and by its own hand, which is how a death can fall between two instructions.
 */

import { isLullError } from '../../src/core/errors.ts'
import type { LogRecord } from '../../src/core/records.ts'
import type { State } from '../../src/core/states.ts'
import type { CloudEvent } from '../../src/core/waiting/cloud-event.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { SendRequest } from '../../src/engine/input/requests.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import type { PauseRequest } from '../../src/engine/requests/pause-task.ts'
import type { RemindRequest } from '../../src/engine/requests/remind/reminders.ts'
import type { ResumeRequest } from '../../src/engine/requests/resume-task.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Store } from '../../src/ports/store.ts'
import type { A2A } from '../../src/protocols/a2a/index.ts'
import { createSystemClock } from '../../src/server/system/clock.ts'
import { createIds } from '../../src/server/system/ids.ts'
import { createLog } from '../../src/server/system/log.ts'
import { systemMemory } from '../../src/server/system/memory.ts'
import { createSigner, receiptKey } from '../../src/server/system/signer.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { createEffectsFile } from '../../src/testing/script-agent/work.ts'
import { type AgentName, createAgents } from './agents.ts'
import { afterProgress, die, type Kill, killing } from './killing-store.ts'

export interface WorkerOptions {
  readonly data: string
  /** Default: the script agent alone. */
  readonly agents?: readonly AgentName[]
  readonly engine?: Partial<EngineOptions>
  /** How far the clock of this process is ahead: time that passed while none ran. */
  readonly aheadMs?: number
  readonly kill?: Kill
  /** The step that takes the process down when it begins. */
  readonly deadlyStep?: string
  /** The model call or tool of the agent `writer` that never ends in this process. */
  readonly hangsAt?: string
  /** Gives every run up after every record and begins again with a new engine: what eviction does, for all at once. */
  readonly evict?: boolean
  /** Speaks A2A as well, and sends webhooks. */
  readonly a2a?: boolean
}

const caller = { tenant: 'acme', principal: 'ann' }

const options = JSON.parse(process.argv[2] ?? '{}') as WorkerOptions
const { data, agents = ['script'], aheadMs = 0 } = options
const tell = (news: News): void => {
  process.send?.(news)
}

const clock: Clock = createSystemClock({
  wall: () => Date.now() + aheadMs,
  uptime: () => performance.now() + aheadMs,
})
const { LULL_POSTGRES: url } = process.env
const opened = await (url === undefined ? openSqlite() : openPostgres(url))
const store = options.evict
  ? afterProgress(opened, () => queue(evict))
  : killing(opened, options.kill)
const effects = createEffectsFile()
function noteEffect(line: string): void {
  effects(line)
  if (line.startsWith('begin') && line.split(' ')[2] === options.deadlyStep) die()
  tell({ kind: 'effect', line })
}
const script = createScriptAgent({ clock, effects: noteEffect })
const deps = {
  store,
  agents: await createAgents(agents, { script, data, effects: noteEffect, ...hanging() }),
  clock,
  ids: createIds(clock.now),
  signer: createSigner(await receiptKey({ data }, undefined)),
  log: createLog((line) => process.stderr.write(`${line}\n`), 'error'),
  memory: systemMemory,
  ...(options.engine === undefined ? {} : { options: options.engine }),
}
let engine: Engine = createEngine(deps)
const a2a = options.a2a ? await openA2A() : undefined
/** The last record of each watched task that was passed on. */
const told = new Map<string, number>()

const methods = {
  send: (request: SendRequest) => engine.send(caller, request),
  get: (taskId: string) => engine.get(caller, taskId),
  pause: (request: PauseRequest) => engine.pause(caller, request),
  resume: (request: ResumeRequest) => engine.resume(caller, request),
  remind: (request: RemindRequest) => engine.remind(caller, request),
  emit: (event: CloudEvent) => engine.emit(caller, [event]),
  drain: (timeoutMs: number) => engine.drain({ timeoutMs }),
  verify: (taskId: string) => engine.verify(caller, taskId),
  /** A request of A2A 1.0; the answer as it stands on the wire. */
  async rpc(method: string, params: unknown) {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const request = new Request('http://lull.test/', { method: 'POST', headers, body })
    return (await a2a?.fetch(request, { caller, may: () => true }))?.json() as Promise<unknown>
  },
  /** The frames of a subscription over A2A 1.0, as news for that reader. Answers when it ends. */
  async frames(reader: string, id: string, lastEventId?: string) {
    const headers = {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SubscribeToTask',
      params: { id },
    })
    const request = new Request('http://lull.test/', { method: 'POST', headers, body })
    const response = await a2a?.fetch(request, { caller, may: () => true })
    let text = ''
    for await (const bytes of response?.body ?? []) {
      text += new TextDecoder().decode(bytes)
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) if (!frame.startsWith(':')) tell({ kind: 'frame', reader, frame })
    }
  },
  waitFor: (taskId: string, states: readonly State[]) =>
    engine.waitFor(caller, taskId, (task) => states.includes(task.state)),
  /** Records of the task, as news, from there on. Followed from one engine to the next. */
  async watch(taskId: string, after: number) {
    told.set(taskId, after)
    await follow(taskId)
  },
}

export type Methods = typeof methods
export type MethodName = keyof Methods

export interface Call {
  readonly id: number
  readonly method: MethodName
  readonly args: readonly unknown[]
}

export type News =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly code: string; readonly text: string }
  | { readonly kind: 'record'; readonly taskId: string; readonly record: LogRecord }
  | { readonly kind: 'effect'; readonly line: string }
  | { readonly kind: 'frame'; readonly reader: string; readonly frame: string }

function hanging(): Pick<WorkerOptions, 'hangsAt'> {
  return options.hangsAt === undefined ? {} : { hangsAt: options.hangsAt }
}

async function openSqlite(): Promise<Store> {
  const { createSqliteStore } = await import('../../src/stores/sqlite/sqlite-store.ts')
  return createSqliteStore({ path: data, waitForLockMs: 5_000 })
}

async function openPostgres(url: string): Promise<Store> {
  const { createPostgresStore } = await import('../../src/stores/postgres/postgres-store.ts')
  return createPostgresStore({ url, schema: process.env['LULL_POSTGRES_SCHEMA'] })
}

/** Loaded by the few that need it: most processes of the suite live too short for that. */
async function openA2A(): Promise<A2A> {
  const { createA2A } = await import('../../src/protocols/a2a/index.ts')
  const { ids, log } = deps
  const config = { pushToPrivate: true }
  return createA2A({ engine, store, clock, ids, log, publicUrl: 'http://lull.test', config })
}

async function follow(taskId: string): Promise<void> {
  const after = told.get(taskId) ?? 0
  pass(taskId, await engine.subscribe(caller, taskId, { after })).catch(fail)
}

async function pass(taskId: string, records: AsyncIterable<LogRecord>): Promise<void> {
  for await (const record of records) {
    if (record.seq <= (told.get(taskId) ?? 0)) continue
    told.set(taskId, record.seq)
    tell({ kind: 'record', taskId, record })
  }
}

/** Between two engines nobody may ask anything; `turn` is where calls and evictions queue for the one there is. */
async function evict(): Promise<void> {
  await engine.drain()
  engine = createEngine(deps)
  await engine.start()
  for (const taskId of told.keys()) await follow(taskId)
}

async function carryOut({ id, method, args }: Call): Promise<void> {
  try {
    const work = methods[method] as (...args: readonly unknown[]) => Promise<unknown>
    tell({ kind: 'answer', id, value: await work(...args) })
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    tell({ kind: 'refusal', id, code: isLullError(error) ? error.code : 'UNEXPECTED', text })
  }
}

function fail(error: unknown): never {
  throw error
}

let turn: Promise<void> = Promise.resolve()
const queue = (work: () => Promise<void>): void => {
  turn = turn.then(work)
  turn.catch(fail)
}

process.on('message', (call: Call) => {
  if (options.evict) queue(() => carryOut(call))
  else carryOut(call).catch(fail)
})
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0))
await engine.start()
await a2a?.start()
tell({ kind: 'ready' })
