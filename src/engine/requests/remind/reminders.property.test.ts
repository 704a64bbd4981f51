/**
 * Whatever comes in whatever order: injections, turns, pauses, compactions, clearings and deaths. For every reminder:
 *
 *  - it ends in exactly one way: used up by its turns, dropped by a compaction, displaced, cleared, or left by the task;
 *  - it is told as emitted once if any turn showed it, and its end is told once, on a stream that outlives the process;
 *  - it costs the turns it was given and no others;
 *  - code at the same place sees the same, in whichever process it runs.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { evolve } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import { isTerminal } from '../../../core/states.ts'
import { pauseModes } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { pendingByRecords } from '../../../core/test-support/pending-by-records.ts'
import { eventsOf, type ReminderChange } from '../../../protocols/a2a/streams/task-events.ts'
import type { Agent } from '../../author/agent.ts'
import type { Turn } from '../../author/agent-task.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

const TOOL_MS = 10

type TurnOp = 'tool' | 'batch' | 'park' | 'fail'
interface PlannedTurn {
  readonly ops: readonly TurnOp[]
  readonly compact: boolean
}

type Act =
  | { readonly act: 'inject'; readonly reminder: Omit<ReminderRequest, 'body'> }
  | { readonly act: 'repeat' | 'clear' | 'resume' | 'crash' | 'pass' }
  | { readonly act: 'pause'; readonly mode: (typeof pauseModes)[number] }

const planned: fc.Arbitrary<PlannedTurn> = fc.record({
  ops: fc.array(fc.constantFrom<TurnOp>('tool', 'tool', 'batch', 'batch', 'park', 'fail'), {
    maxLength: 3,
  }),
  compact: fc.boolean(),
})
const reminder = fc.record(
  {
    dedupeKey: fc.constantFrom('k', 'l'),
    ttlTurns: fc.integer({ min: 1, max: 3 }),
    preserveOnCompact: fc.boolean(),
    firedAtTurn: fc.nat(4),
    mode: fc.constantFrom(...pauseModes),
  },
  { requiredKeys: [] },
)
const often = <A extends Act>(weight: number, arbitrary: fc.Arbitrary<A>) => ({ weight, arbitrary })
const act: fc.Arbitrary<Act> = fc.oneof(
  often(
    6,
    reminder.map((one): Act => ({ act: 'inject', reminder: one as Omit<ReminderRequest, 'body'> })),
  ),
  often(1, fc.constantFrom<Act>({ act: 'repeat' }, { act: 'clear' })),
  often(
    2,
    fc.constantFrom(...pauseModes).map((mode): Act => ({ act: 'pause', mode })),
  ),
  often(2, fc.constant<Act>({ act: 'resume' })),
  often(1, fc.constant<Act>({ act: 'crash' })),
  often(5, fc.constant<Act>({ act: 'pass' })),
)

it('every reminder ends once, is told, costs its turns, and is seen alike by every process', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(planned, { minLength: 2, maxLength: 6 }),
      fc.array(act, { minLength: 6, maxLength: 24 }),
      async (plan, acts) => {
        const { log, heard, accepted } = await played(plan, acts)
        expect(heard.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq))
        expect(pendingByRecords(log)).toEqual([])
        const changes = toldOf(heard)
        const injections = injectionsIn(log)
        expect([...injections.keys()].sort()).toEqual([...accepted].sort())
        for (const one of injections.values()) checkLife(one, log, changes)
      },
    ),
    { numRuns: 60 },
  )
})

/** A turn that reads whenever it can. What a place saw once it must see again. */
function looking(plan: readonly PlannedTurn[], harness: () => Harness): Agent {
  const seen = new Map<string, string>()
  const read = (turn: Turn, place: string): void => {
    const now = turn.reminders.map(({ id }) => id).join()
    const then = seen.get(place) ?? now
    if (then !== now) throw new Error(`at ${place} it saw "${then}" and now "${now}"`)
    seen.set(place, now)
  }
  const work = () => new Promise<void>((done) => harness().clock.after(TOOL_MS, done))
  const tool = (name: string) => ({ name, run: work })
  return running(
    async (task) => {
      for (const [index, { ops, compact }] of plan.entries()) {
        const turn = task.turn(async (turn) => {
          read(turn, `${index}`)
          for (const [at, op] of ops.entries()) {
            if (op === 'tool') await turn.tool('a', work)
            if (op === 'batch') await turn.tools([tool('b'), tool('c')])
            if (op === 'park') await task.park({ reason: 'x' })
            if (op === 'fail') throw new Error('planned')
            read(turn, `${index}/${at}`)
          }
        })
        await turn.catch((error: Error) => {
          if (error.message !== 'planned') throw error
        })
        if (compact) await task.compact()
      }
    },
    { providers: { resumed: false, idle: false } },
  )
}

interface Played {
  readonly log: readonly LogRecord[]
  /** What a subscriber heard who came back after every death. */
  readonly heard: readonly LogRecord[]
  readonly accepted: ReadonlySet<string>
}

async function played(plan: readonly PlannedTurn[], acts: readonly Act[]): Promise<Played> {
  let harness: Harness = await createHarness({ agents: [looking(plan, () => harness)] })
  const heard: LogRecord[] = []
  const accepted = new Set<string>()
  const { id: taskId } = await harness.send('go')
  let last: ReminderRequest | undefined

  async function listen(): Promise<void> {
    const records = await harness.engine.subscribe(alice, taskId, { after: heard.at(-1)?.seq ?? 0 })
    const hear = async (): Promise<void> => {
      for await (const record of records) heard.push(record)
    }
    hear().catch(() => undefined)
  }

  const inject = async (reminder: ReminderRequest): Promise<void> => {
    await harness.engine.remind(alice, { taskId, reminder })
    accepted.add(reminder.id ?? '')
  }

  const perform: { readonly [A in Act['act']]: (given: Act & { act: A }, n: number) => unknown } = {
    inject: ({ reminder }, n) => {
      last = { ...reminder, id: `r-${n}`, body: `body ${n}` }
      return inject(last)
    },
    repeat: () => (last === undefined ? undefined : inject(last)),
    clear: () => harness.engine.clearReminders(alice, { taskId, dedupeKey: 'l' }),
    pause: ({ mode }) => harness.engine.pause(alice, { taskId, mode, graceMs: 0 }),
    resume: () => harness.engine.resume(alice, { taskId }),
    async crash() {
      harness = await harness.recover()
      await listen()
    },
    pass: () => harness.pass(TOOL_MS),
  }

  await listen()
  for (const [n, one] of acts.entries()) {
    await Promise.resolve((perform[one.act] as (given: Act, n: number) => unknown)(one, n)).catch(
      isRefusal,
    )
    if (n % 2 === 0) await harness.settled()
  }
  await finish(harness, taskId)
  await expect.poll(() => heard.at(-1)?.type).toBe('completed')
  return { log: await harness.log(taskId), heard, accepted }
}

const refusals = new Set(['TASK_TERMINAL', 'TASK_NOT_PAUSABLE', 'TASK_NOT_PAUSED'])

function isRefusal(error: { readonly code?: string }): void {
  if (!refusals.has(error.code ?? '')) throw error
}

async function finish(harness: Harness, taskId: string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    await harness.pass(TOOL_MS)
    const { state, suspension } = await harness.get(taskId)
    if (isTerminal(state)) return
    if (suspension !== undefined) await harness.engine.resume(alice, { taskId })
  }
  throw new Error('it does not come to an end')
}

function injectionsIn(log: readonly LogRecord[]): ReadonlyMap<string, Reminder> {
  return new Map(
    log.flatMap((record) =>
      record.type === 'reminder-injected' ? [[record.reminder.id, record.reminder] as const] : [],
    ),
  )
}

/** What readers of a stream are told of reminders. */
function toldOf(log: readonly LogRecord[]): readonly ReminderChange[] {
  let task: Task | undefined
  return log.flatMap((record) => {
    const before = task
    task = evolve(before, record)
    return eventsOf(before, record, task).flatMap((event) =>
      event.kind === 'reminder' ? [event.change] : [],
    )
  })
}

type End = LogRecord & { readonly type: 'reminder-expired' | 'reminder-deduped' }

function isEnd(record: LogRecord): record is End {
  return record.type === 'reminder-expired' || record.type === 'reminder-deduped'
}

function checkLife(
  { id, ttlTurns, firedAtTurn = 0, preserveOnCompact, dedupeKey }: Reminder,
  log: readonly LogRecord[],
  changes: readonly ReminderChange[],
): void {
  const showing = new Set<number>()
  let paid = 0
  let end: End | undefined
  let previous: LogRecord | undefined
  for (const record of log) {
    if (record.type === 'turn-started' || record.type === 'reminders-shown') {
      if (record.reminders.some((one) => one.id === id)) showing.add(record.turn)
    }
    if (record.type === 'turn-ended' && showing.has(record.turn) && end === undefined) {
      if (record.outcome === undefined && record.turn >= firedAtTurn) paid++
    }
    if (isEnd(record) && record.ids.includes(id)) {
      end = record
      const byCompaction = record.type === 'reminder-expired' && record.reason === 'compaction'
      if (byCompaction) expect(previous?.type).toBe('compacted')
    }
    previous = record
  }
  const emitted = changes.filter((one) => one.event === 'emitted' && one.reminder.id === id)
  expect(emitted, `${id} emitted`).toHaveLength(showing.size > 0 ? 1 : 0)
  const ended = changes.filter(
    (one) =>
      (one.event === 'expired' && one.reminderId === id) ||
      (one.event === 'deduped' && one.displaced.includes(id)),
  )
  expect(ended, `the end of ${id}`).toHaveLength(1)

  expect(paid, `turns of ${id}`).toBeLessThanOrEqual(ttlTurns ?? Number.POSITIVE_INFINITY)
  if (end?.type === 'reminder-deduped') {
    expect(end.dedupeKey).toBe(dedupeKey)
  } else if (end?.reason === 'ttl') {
    expect(paid, `turns of ${id}`).toBe(ttlTurns)
  } else if (end?.reason === 'compaction') {
    expect(preserveOnCompact).toBe(false)
  } else if (end?.reason === 'cleared') {
    expect(dedupeKey).toBe('l')
  } else {
    expect(end?.reason).toBe('task_ended')
    if (ttlTurns !== undefined) expect(paid, `turns of ${id}`).toBeLessThan(ttlTurns)
  }
}
