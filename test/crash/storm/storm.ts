/** Many clients, one server, and somebody who kills it. Every call is remembered with what came back and when. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../../../src/stores/test-support/free-port.ts'
import { type LullProcess, serving } from '../../scenarios/lull-process.ts'
import { type Plan, type StormCall, SUBJECTS } from './plan.ts'
import { emit, perform, say } from './requests.ts'
import { type Answer, createWire, type Loose, type Wire } from './wire.ts'

export interface Weather {
  readonly plan: Plan
  readonly tasks: number
  readonly calls: number
  readonly clients: number
  /** Before which calls the server is killed. */
  readonly kills: readonly number[]
}

export interface Attempt {
  readonly call: StormCall
  readonly taskId: string
  /** The handle a resume named. */
  readonly handle: string | undefined
  readonly sentAt: number
  readonly answeredAt: number
  /** Undefined: the server died first. */
  readonly answer: Answer
}

export interface Aftermath {
  readonly data: string
  readonly taskIds: readonly string[]
  readonly attempts: readonly Attempt[]
  /** Tasks that still waited for an event after it was acknowledged that everybody had been told. */
  readonly overslept: readonly string[]
  /** Every task as the last server showed it, when all had ended. */
  readonly shown: ReadonlyMap<string, string>
}

export async function rage({ plan, tasks, calls, clients, kills }: Weather): Promise<Aftermath> {
  const home = mkdtempSync(join(tmpdir(), 'lull-storm-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const data = join(home, 'data')
  const config = join(home, 'config.json')
  writeFileSync(config, JSON.stringify({ engine: { concurrency: 128, maxDeaths: 100 } }))
  let server: (LullProcess & { readonly url: string }) | undefined
  onTestFinished(() => server?.signal('SIGKILL'))

  const port = `${await freePort()}`
  const start = async (): Promise<string> => {
    const flags = ['--script', '--port', port, '--data', data, '--config', config]
    server = await serving(['serve', ...flags])
    return server.url
  }
  const url = await start()
  const wire = createWire(url, clients)
  /** Calls begin when it is up. */
  let up: Promise<unknown> = Promise.resolve()
  const dead = new Set(kills)

  async function kill(): Promise<void> {
    server?.signal('SIGKILL')
    await server?.ended
    await start()
  }

  /** So many at a time, each number once. */
  async function inParallel(count: number, work: (n: number) => Promise<void>): Promise<void> {
    let next = 0
    const client = async (): Promise<void> => {
      while (next < count) await work(next++)
    }
    await Promise.all(Array.from({ length: clients }, client))
  }

  const taskIds: string[] = []
  await inParallel(tasks, async (n) => {
    taskIds[n] = await begin(wire, plan, n)
  })

  const attempts: Attempt[] = []
  const handles = new Map<string, string>()

  async function attempt(call: StormCall): Promise<Answer> {
    const taskId = taskIds[call.task] ?? ''
    const handle = call.kind === 'resume' ? handleFor(call.handle, handles.get(taskId)) : undefined
    const sentAt = Date.now()
    const answer = await perform(wire, call, taskId, handle)
    attempts.push({ call, taskId, handle, sentAt, answeredAt: Date.now(), answer })
    const named = answer?.body.result?.handle
    if (typeof named === 'string') handles.set(taskId, named)
    return answer
  }

  await inParallel(calls, async (n) => {
    if (dead.delete(n)) up = kill()
    await up
    const call = plan.call(n)
    const answer = await attempt(call)
    if (answer !== undefined) return
    await up
    if (call.persistent) await attempt(call)
  })

  const overslept = await wakeAll(wire)
  const shown = await calm(wire, inParallel)
  wire.close()
  server?.signal('SIGKILL')
  await server?.ended
  return { data, taskIds, attempts, overslept, shown }
}

async function begin(wire: Wire, plan: Plan, n: number): Promise<string> {
  const parts = [{ data: { script: plan.script(n) } }]
  const message = { messageId: `task-${n}`, role: 'ROLE_USER', parts }
  const configuration = { returnImmediately: true }
  const answer = await wire.rpc('1.0', 'SendMessage', { message, configuration })
  return answer?.body.result.task.id
}

function handleFor(which: 'none' | 'last known' | 'made up', known: string | undefined) {
  if (which === 'made up') return 'suspend-00000000-0000-7000-8000-000000000000'
  return which === 'last known' ? known : undefined
}

/** One more event of every name: whoever waited for it before is awake when it is acknowledged. */
async function wakeAll(wire: Wire): Promise<readonly string[]> {
  const emittedAt = new Date().toISOString()
  for (let subject = 0; subject < SUBJECTS; subject++) {
    await emit(wire, `calm-${subject}`, `${subject}`)
  }
  const isAsleep = ({ conditions, pausedAt }: Loose): boolean =>
    conditions?.onEvent !== undefined && pausedAt < emittedAt
  const working = await listed(wire, 'TASK_STATE_WORKING')
  return working.filter((task) => isStopped(task) && isAsleep(controlOf(task))).map(({ id }) => id)
}

type InParallel = (count: number, work: (n: number) => Promise<void>) => Promise<void>

/** After the storm somebody sees to every task until it has ended; a task that was lost never would. */
async function calm(wire: Wire, inParallel: InParallel): Promise<ReadonlyMap<string, string>> {
  let round = 0
  async function seeTo(): Promise<number> {
    round++
    const working = await listed(wire, 'TASK_STATE_WORKING')
    const asking = await listed(wire, 'TASK_STATE_INPUT_REQUIRED')
    const stopped = working.filter(isStopped)
    await inParallel(stopped.length, async (n) => {
      await wire.rpc('1.0', 'tasks/resume', { taskId: stopped[n].id })
    })
    await inParallel(asking.length, async (n) => {
      await say(wire, true, asking[n].id, `calm-${round}-${n}`)
    })
    return working.length + asking.length
  }
  await expect.poll(seeTo, { timeout: 120_000, interval: 100 }).toBe(0)
  return new Map((await listed(wire)).map(({ id, status }) => [id, status.state]))
}

const controlOf = ({ metadata }: Loose): Loose => metadata?.['urn:lull:a2a:task-control:1']

const isStopped = (task: Loose): boolean => controlOf(task)?.state.startsWith('paused') ?? false

async function listed(wire: Wire, status?: string): Promise<readonly Loose[]> {
  const tasks: Loose[] = []
  let pageToken: string | undefined
  do {
    const params = { status, pageToken, pageSize: 100, historyLength: 0 }
    const answer = await wire.rpc('1.0', 'ListTasks', params)
    if (answer === undefined) throw new Error('no answer, and nobody killed the server')
    tasks.push(...answer.body.result.tasks)
    pageToken = answer.body.result.nextPageToken || undefined
  } while (pageToken !== undefined)
  return tasks
}
