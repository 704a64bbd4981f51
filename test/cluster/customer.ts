/** The sender of one task: sees it through to its end, by way of random processes, and remembers what it was told. */
import type { Loose } from '../crash/storm/wire.ts'
import { type Chooser, chooser } from '../support/chooser.ts'
import { type Calls, type Outcome, pass } from './calls.ts'
import { scriptOf } from './plan.ts'
import type { Processes } from './processes.ts'
import { type Frame, hasEnded, readStream } from './reader.ts'

/** Two resumes of one stop, sent to two processes at once. */
export interface Race {
  readonly handle: string
  readonly key: string
  readonly outcome: Outcome
}

export interface Account {
  readonly taskId: string
  /** Every task id that was given for this send. */
  readonly taskIds: ReadonlySet<string>
  readonly state: string
  readonly resumes: readonly Race[]
  /** Message ids and reminder ids, with what was answered. */
  readonly messages: ReadonlyMap<string, Outcome>
  readonly reminders: ReadonlyMap<string, Outcome>
  /** Events that were acknowledged. */
  readonly events: ReadonlySet<string>
  readonly frames: readonly Frame[]
}

export interface Cluster {
  readonly seed: number
  readonly processes: Processes
  readonly calls: Calls
}

/** How many pauses, messages and reminders a task gets. */
const MOST_EXTRAS = 3

export async function attend(cluster: Cluster, n: number): Promise<Account> {
  const { seed, processes, calls } = cluster
  const choose = chooser(seed, 2 * n)
  const taskIds = await begin(cluster, choose, n)
  const [taskId = ''] = taskIds
  const readerChoice = chooser(seed, 2 * n + 1)
  const anyUrl = (): string => processes.url(readerChoice.below(processes.count))
  const reading = readStream(anyUrl, readerChoice, taskId)

  const resumes: Race[] = []
  const messages = new Map<string, Outcome>()
  const reminders = new Map<string, Outcome>()
  const events = new Set<string>()
  let extras = 0

  async function say(messageId: string): Promise<void> {
    const metadata = { 'a2a-idempotency-key': messageId }
    const message = { messageId, taskId, metadata, role: 'ROLE_USER', parts: [{ text: 'this' }] }
    const configuration = { returnImmediately: true }
    const outcome = await calls.persist(choose, 'SendMessage', { message, configuration })
    messages.set(messageId, outcome)
  }

  async function race(handle: string): Promise<void> {
    const first = choose.below(processes.count)
    const second = (first + 1 + choose.below(processes.count - 1)) % processes.count
    await Promise.all(
      [first, second].map(async (slot, index) => {
        const key = `${handle}-${index}`
        const params = { taskId, handle, metadata: { idempotencyKey: key } }
        resumes.push({ handle, key, outcome: await calls.rpc(slot, 'tasks/resume', params) })
      }),
    )
  }

  async function wake(control: Loose): Promise<void> {
    const wanted: string | undefined = control.conditions?.onEvent?.subject ?? subjectIn(control)
    if (control.state === 'paused-by-agent' && wanted !== undefined) {
      if (events.has(wanted)) return
      await calls.emit(choose, wanted)
      events.add(wanted)
    } else if (control.conditions?.timeout === undefined) {
      await race(control.handle)
    }
  }

  async function disturb(): Promise<void> {
    if (extras >= MOST_EXTRAS || !choose.chance(0.5)) return
    const name = `${taskId}-${++extras}`
    const slot = choose.below(processes.count)
    const reminder = { id: `reminder-${name}`, body: 'Do not forget.' }
    const kinds = [
      () => calls.rpc(slot, 'tasks/pause', { taskId, reason: name }),
      () => say(`message-${name}`),
      async () => {
        const outcome = await calls.persist(choose, 'tasks/inject_reminder', { taskId, reminder })
        reminders.set(reminder.id, outcome)
      },
    ]
    await choose.oneOf(kinds)()
  }

  for (;;) {
    const task = await calls.persist(choose, 'GetTask', { id: taskId, historyLength: 0 })
    if (task.kind !== 'done') throw new Error(`task ${taskId} is gone: ${JSON.stringify(task)}`)
    const { status, metadata } = task.result
    const state = String(status.state).replace('TASK_STATE_', '').toLowerCase()
    if (hasEnded(state)) {
      const frames = await reading
      return { taskId, taskIds, state, resumes, messages, reminders, events, frames }
    }
    const control = metadata?.['urn:lull:a2a:task-control:1']
    if (control?.state?.startsWith('paused')) await wake(control)
    else if (state === 'input_required') await say(`answer-${taskId}-${status.timestamp}`)
    else await disturb()
    await pass(50 + choose.below(250))
  }
}

/** `type:subject`, as a script names the event it waits for. */
function subjectIn({ conditions }: Loose): string | undefined {
  const { onEvent } = conditions ?? {}
  return typeof onEvent === 'string' ? onEvent.slice(onEvent.indexOf(':') + 1) : undefined
}

/** Sends the task to two processes at once, under one key: it is one task. */
async function begin({ seed, calls }: Cluster, choose: Chooser, n: number) {
  const messageId = `soak-${seed}-${n}`
  const metadata = { 'a2a-idempotency-key': messageId }
  const parts = [{ data: { script: scriptOf(choose, n) } }]
  const params = {
    message: { messageId, metadata, role: 'ROLE_USER', parts },
    configuration: { returnImmediately: true },
  }
  const answers = await Promise.all([
    calls.persist(choose, 'SendMessage', params),
    calls.persist(choose, 'SendMessage', params),
  ])
  return new Set(
    answers.map((answer): string => {
      if (answer.kind === 'done') return answer.result.task.id
      throw new Error(`task ${n} was refused: ${JSON.stringify(answer)}`)
    }),
  )
}
