/**
 * A task told as a story: every command goes through `decide` and `evolve` as the engine does it, on a clock that moves
 * only when told to. For the tests of this folder; nothing else imports it.
 */
import type { Command, CommandType } from '../commands.ts'
import { decide } from '../decide.ts'
import type { Refusal } from '../errors.ts'
import { evolve } from '../evolve.ts'
import type { Message } from '../messages/message.ts'
import type { Signer } from '../receipts/receipt.ts'
import { createReceipts } from '../receipts/receipts.ts'
import type {
  JournalRecord,
  LogRecord,
  Question,
  RecordBody,
  RecordType,
  RunToken,
} from '../records.ts'
import type { ProvidedReminder, Reminder, TurnOutcome } from '../reminders/reminders.ts'
import type { Actor } from '../suspension.ts'
import type { Task } from '../task.ts'

export interface Story {
  readonly task: Task
  readonly log: readonly LogRecord[]
  readonly now: number
  /** Carries the commands out, in order; what the last one wrote. */
  tell(...commands: readonly Command[]): readonly LogRecord[]
  /** The command's refusal. */
  refusal(command: Command): Refusal
  wait(ms: number): void
}

/** With a signer, every act gets its receipt. */
export function createStory(signer?: Signer): Story {
  const receiptFor = signer && createReceipts(signer)
  const log: LogRecord[] = []
  let task: Task | undefined
  let now = 1_000_000

  function append(body: RecordBody): Task {
    const record: LogRecord = { ...body, seq: log.length + 1, at: now }
    log.push(record)
    task = evolve(task, record)
    return task
  }

  function one(command: Command): void {
    const { records, refusal } = decide(task, command, now)
    if (refusal !== undefined) throw new Error(`${command.type} was refused: ${refusal.code}`)
    for (const body of records) {
      const after = append(body)
      const receipt = receiptFor?.(after, body, now)
      if (receipt !== undefined) append(receipt)
    }
  }

  return {
    get task() {
      if (task === undefined) throw new Error('the story has no task yet')
      return task
    },
    log,
    get now() {
      return now
    },
    tell(...commands) {
      let before = log.length
      for (const command of commands) {
        before = log.length
        one(command)
      }
      return log.slice(before)
    },
    refusal(command) {
      const { refusal } = decide(task, command, now)
      if (refusal === undefined) throw new Error(`${command.type} was not refused`)
      return refusal
    },
    wait(ms) {
      now += ms
    },
  }
}

export function typesOf(records: readonly RecordBody[]): readonly RecordType[] {
  return records.map((record) => record.type)
}

/** The only record of that type. */
export function only<T extends RecordType>(
  records: readonly LogRecord[],
  type: T,
): LogRecord & { readonly type: T } {
  const [found, ...more] = records.filter((record) => record.type === type)
  if (found === undefined || more.length > 0) {
    throw new Error(`expected one "${type}" among ${typesOf(records).join(', ') || 'no records'}`)
  }
  return found as LogRecord & { readonly type: T }
}

export const MINUTE = 60_000
export const client: Actor = { kind: 'client', id: 'alice' }
export const operator: Actor = { kind: 'operator', id: 'olga' }

type Of<T extends CommandType> = Command & { readonly type: T }
type Some<T extends CommandType> = Partial<Omit<Of<T>, 'type'>>

export function run(token: string): RunToken {
  return { token, worker: `worker of ${token}` }
}

export function message(messageId: string, text: string = messageId): Message {
  return { messageId, role: 'ROLE_USER', parts: [{ text }] }
}

export function reminder(id: string, some: Partial<Reminder> = {}): Reminder {
  return {
    id,
    body: `body of ${id}`,
    tags: [],
    preserveOnCompact: false,
    propagate: 'session',
    roleHint: 'system',
    mode: 'finish_step',
    acceptedAt: 1_000_000,
    ...some,
  }
}

export const submit = (some: Partial<Of<'submit'>['submission']> = {}): Of<'submit'> => ({
  type: 'submit',
  holds: [],
  submission: {
    taskId: 'task-1',
    tenant: 'default',
    principal: 'alice',
    agent: 'rebase-worker',
    contextId: 'context-1',
    message: message('m-0'),
    eventsAfter: 10,
    ...some,
  },
})
export const start = (token: string = 'run-1', some: Some<'start'> = {}): Of<'start'> => ({
  type: 'start',
  run: run(token),
  maxDeaths: 5,
  handle: `suspend-crash-${token}`,
  ...some,
})
export const send = (messageId: string, some: Some<'message'> = {}): Of<'message'> => ({
  type: 'message',
  message: message(messageId),
  actor: client,
  ...some,
})
export const pause = (handle: string = 'suspend-1', some: Some<'pause'> = {}): Of<'pause'> => ({
  type: 'pause',
  handle,
  actor: client,
  mode: 'finish_step',
  eventsAfter: 20,
  atBoundary: true,
  ...some,
})
export const resume = (some: Some<'resume'> = {}): Of<'resume'> => ({
  type: 'resume',
  actor: client,
  cause: 'explicit_resume',
  input: null,
  continueTranscript: true,
  ...some,
})
export const happen = (type: string, pos: number, some: Some<'event'> = {}): Of<'event'> => ({
  type: 'event',
  event: { id: `event-${pos}`, source: 'ci', type },
  pos,
  ...some,
})
export const due = (token?: string): Of<'due'> => ({
  type: 'due',
  messageId: 'm-due',
  ...(token === undefined ? {} : { run: run(token) }),
})
export const cancel = (some: Some<'cancel'> = {}): Of<'cancel'> => ({
  type: 'cancel',
  actor: client,
  ...some,
})
export const hold = (holdId: string, some: Some<'hold'> = {}): Of<'hold'> => ({
  type: 'hold',
  hold: { holdId, reason: 'incident', actor: operator },
  handle: `suspend-${holdId}`,
  atBoundary: true,
  ...some,
})
export const lift = (holdId: string, token?: string): Of<'lift'> => ({
  type: 'lift',
  holdId,
  actor: operator,
  ...(token === undefined ? {} : { run: run(token) }),
})
export const remind = (id: string, some: Partial<Reminder> = {}, limit: number = 64): Command => ({
  type: 'remind',
  reminder: reminder(id, some),
  limit,
})
/** Of a task whose process is gone, unless the run itself asks. */
export const policyPause = (some: Some<'policy-pause'> = {}): Of<'policy-pause'> => ({
  type: 'policy-pause',
  handle: 'suspend-policy',
  reason: 'agent-unknown',
  summary: 'No agent of that name is registered',
  atBoundary: true,
  ...(some.run === undefined ? { from: run('run-1') } : {}),
  ...some,
})

export const record = (entry: JournalRecord, token: string = 'run-1'): Of<'record'> => ({
  type: 'record',
  run: token,
  records: [entry],
})
export const step = (key: string, token: string = 'run-1'): Of<'record'> =>
  record({ type: 'step', key, name: key, attempt: 1, result: null }, token)
export const startTurn = (
  token: string = 'run-1',
  some: Some<'start-turn'> = {},
): Of<'start-turn'> => ({ type: 'start-turn', run: token, key: 'turn', ...some })
/** Wanted by a provider of that name. */
export const provided = (
  provider: string,
  id: string,
  some: Partial<Reminder> = {},
): ProvidedReminder => ({
  provider,
  reminder: reminder(id, some),
})
export const endTurn = (
  turn: number,
  token: string = 'run-1',
  outcome: TurnOutcome = 'completed',
): Of<'record'> => record({ type: 'turn-ended', key: 'turn', turn, transcript: [], outcome }, token)
export const park = (handle: string = 'suspend-1', some: Some<'park'> = {}): Of<'park'> => ({
  type: 'park',
  run: 'run-1',
  key: 'park',
  fingerprint: 'f',
  handle,
  reason: 'waiting on ci',
  eventsNow: 20,
  ...some,
})
export const ask = (question: Partial<Question> = {}, token: string = 'run-1'): Of<'ask'> => ({
  type: 'ask',
  run: token,
  key: 'ask',
  fingerprint: 'f',
  question: { state: 'input-required', message: message('question'), ...question },
})
export const commitPause = (token: string = 'run-1'): Of<'commit-pause'> => ({
  type: 'commit-pause',
  run: token,
})
export const complete = (token: string = 'run-1'): Of<'complete'> => ({
  type: 'complete',
  run: token,
})
export const fail = (token: string = 'run-1'): Of<'fail'> => ({
  type: 'fail',
  run: token,
  message: message('failure'),
  failure: { name: 'Error', message: 'boom' },
})
export const reject = (token: string = 'run-1'): Of<'reject'> => ({
  type: 'reject',
  run: token,
  message: message('rejection'),
})
export const wait = (token: string = 'run-1'): Of<'wait'> => ({ type: 'wait', run: token })
export const release = (token: string = 'run-1'): Of<'release'> => ({
  type: 'release',
  run: token,
  reason: 'drain',
})

export function submitted(): Story {
  const story = createStory()
  story.tell(submit())
  return story
}

export function working(): Story {
  const story = submitted()
  story.tell(start())
  return story
}

export function parked(some: Some<'park'> = {}): Story {
  const story = working()
  story.tell(park('suspend-1', some))
  return story
}

export function paused(some: Some<'pause'> = {}): Story {
  const story = working()
  story.tell(pause('suspend-1', some))
  return story
}

/** A pause was accepted and the run has not reached a boundary yet. */
export function quiescing(some: Some<'pause'> = {}): Story {
  return paused({ atBoundary: false, ...some })
}

export function asked(question: Partial<Question> = {}): Story {
  const story = working()
  story.tell(ask(question))
  return story
}
