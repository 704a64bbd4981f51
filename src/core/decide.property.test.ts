/**
 * Random commands, hostile orders included, against what must hold whatever is asked:
 *
 *  - `evolve` follows everything `decide` writes, along the table (E1), with E2–E4;
 *  - a task, a log and a snapshot are never changed, and folding from any snapshot gives the same task;
 *  - stale runs write nothing, one wake wins a suspension, epochs grow by one, handles never repeat;
 *  - the records alone tell which reminders are pending, and every receipt is in place.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from './commands.ts'
import { decide } from './decide.ts'
import { evolve, fold } from './evolve.ts'
import { verifyReceipts } from './receipts/check-receipts.ts'
import { createReceipts } from './receipts/receipts.ts'
import type { LogRecord, RecordBody } from './records.ts'
import { canMove, isInterrupted, isPaused, isTerminal } from './states.ts'
import { pauseModes } from './suspension.ts'
import type { Task } from './task.ts'
import { createKeyedSigner } from './test-support/keyed-signer.ts'
import { pendingByRecords } from './test-support/pending-by-records.ts'
import {
  ask,
  cancel,
  commitPause,
  complete,
  due,
  endTurn,
  fail,
  happen,
  hold,
  lift,
  MINUTE,
  message,
  park,
  parked,
  pause,
  policyPause,
  provided,
  record,
  reject,
  release,
  remind,
  reminder,
  resume,
  run,
  send,
  start,
  startTurn,
  step,
  submit,
  typesOf,
  wait,
} from './test-support/story.ts'
import type { ResumeConditions } from './waiting/conditions.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

/** Placeholders, filled in when the command's turn comes: `$run` is the token of the task's own run, and so on. */
const token = fc.constantFrom('$run', '$run', '$run', '$run', '$run', 'run-2')
const maybe = <T extends object>(some: fc.Arbitrary<T>): fc.Arbitrary<T | Record<never, never>> =>
  fc.oneof(fc.constant({}), some)
const newRun = maybe(fc.constant({ run: run('$new') }))
const instant = fc.constantFrom(1_000_500, 1_050_000, 1_200_000)
const key = fc.constantFrom('a', 'b', 'c')
const decision = fc.constantFrom('granted', 'denied')

const conditions: fc.Arbitrary<ResumeConditions> = fc.record(
  {
    onEvent: fc.constantFrom('built', 'tick'),
    timeout: fc.record(
      {
        durationMinutes: fc.constantFrom(0.001, 0.5, 2),
        onTimeout: fc.constantFrom('resume_with_summary', 'fail', 'resume_with_input'),
      },
      { requiredKeys: ['durationMinutes'] },
    ),
    since: fc.constantFrom('task', 'now'),
  },
  { requiredKeys: [] },
)
const waiting = fc.record({ conditions, fireAt: instant }, { requiredKeys: [] })
const question = fc.oneof(
  fc.record(
    { state: fc.constantFrom('input-required', 'auth-required'), expiresAt: instant },
    { requiredKeys: ['state'] },
  ),
  fc.record({
    state: fc.constant('user-consent-required' as const),
    consent: fc.record({ consentId: key, digest: key, operation: key }),
  }),
)
const reminding = fc.record(
  {
    body: fc.constantFrom('x', 'y'),
    dedupeKey: key,
    ttlTurns: fc.integer({ min: 1, max: 3 }),
    firedAtTurn: fc.nat(3),
    preserveOnCompact: fc.boolean(),
    mode: fc.constantFrom(...pauseModes),
  },
  { requiredKeys: [] },
)

const reminderId = fc.constantFrom('a', 'b', 'c', 'd', 'e', '$fresh')
const wanted = fc.array(
  fc
    .tuple(fc.constantFrom('$wanted', 'a', 'd'), reminding)
    .map(([id, some]) => provided('watcher', id, some)),
  { maxLength: 2 },
)
const turnOutcome = fc.constantFrom(...(['completed', 'completed', 'skipped', 'failed'] as const))

const often = (weight: number, arbitrary: fc.Arbitrary<Command>) => ({ weight, arbitrary })
const fromOutside: fc.Arbitrary<Command> = fc.oneof(
  often(1, fc.constant(submit())),
  often(
    8,
    maybe(fc.constant({ from: run('$run') })).map((from) =>
      start('$new', { ...from, maxDeaths: 3, handle: '$fresh' }),
    ),
  ),
  often(
    4,
    fc
      .tuple(maybe(fc.record({ consentId: key })), maybe(fc.record({ decision })), newRun)
      .map(([consent, decided, by]) => send('m', { ...consent, ...decided, ...by })),
  ),
  often(
    2,
    fc
      .tuple(fc.constantFrom(...pauseModes), waiting, fc.boolean(), fc.boolean(), fc.boolean())
      .map(([mode, wait, atBoundary, evenInputRequired, refuseRepeat]) =>
        pause('$fresh', { mode, ...wait, atBoundary, evenInputRequired, refuseRepeat }),
      ),
  ),
  often(
    1,
    fc
      .tuple(waiting, fc.boolean())
      .map(([wait, atBoundary]) => pause('$fresh', { ...wait, atBoundary, parks: {} })),
  ),
  often(
    8,
    fc
      .tuple(
        maybe(fc.record({ handle: fc.constantFrom('$handle', '$handle', 'suspend-5') })),
        maybe(fc.record({ idempotencyKey: fc.stringMatching(/^[a-z]$/) })),
        maybe(fc.record({ requireHandle: fc.boolean() })),
        fc.constantFrom(null, 'input'),
        newRun,
      )
      .map(([handle, keyed, strict, input, by]) =>
        resume({ ...handle, ...keyed, ...strict, input, ...by }),
      ),
  ),
  often(
    3,
    fc
      .tuple(
        fc.constantFrom('built', 'tick', 'other'),
        fc.integer({ min: 8, max: 30 }),
        fc.constantFrom(0, 0, 15, 25),
        newRun,
      )
      .map(([type, pos, removedUpTo, by]) => happen(type, pos, { removedUpTo, ...by })),
  ),
  often(2, fc.constantFrom(due(), due('$new'))),
  often(
    1,
    fc
      .tuple(fc.constantFrom('h-1', 'h-2'), fc.boolean())
      .map(([id, atBoundary]) => hold(id, { handle: '$fresh', atBoundary })),
  ),
  often(5, fc.constantFrom(lift('h-1'), lift('h-2', '$new'), lift('h-1', '$new'))),
  often(
    3,
    fc.tuple(reminderId, reminding).map(([id, some]) => remind(id, some, 3)),
  ),
  often(
    1,
    maybe(fc.record({ id: key })).map((filter) => ({ type: 'clear-reminders', filter }) as const),
  ),
  often(
    1,
    fc
      .tuple(
        fc.constantFrom('agent-unknown', 'journal-limit', 'code-changed'),
        fc.boolean(),
        maybe(fc.record({ run: token, mismatch: key })),
      )
      .map(([reason, atBoundary, some]) =>
        policyPause({ handle: '$fresh', reason, atBoundary, from: run('$run'), ...some }),
      ),
  ),
)
const fromTheRun: fc.Arbitrary<Command> = fc.oneof(
  token.map((by) => step('s', by)),
  token.map((by) =>
    record({ type: 'step', key: 's', name: 's', attempt: 1, result: 1, topLevel: true }, by),
  ),
  token.map((by) => record({ type: 'compacted', key: 'c', transcript: [] }, by)),
  token.map((by) => record({ type: 'said', key: 's', message: message('said') }, by)),
  token.map((by) => startTurn(by)),
  fc
    .tuple(token, wanted)
    .map(([by, some]) => startTurn(by, { digest: 'digest', provided: some, limit: 5 })),
  // Turn 0 stands for the current one.
  fc
    .tuple(fc.constantFrom(0, 0, 1, 2), token, turnOutcome)
    .map(([turn, by, outcome]) => endTurn(turn, by, outcome)),
  fc.tuple(token, wanted).map(([by, some]) => ({ ...step('s', by), provided: some, limit: 4 })),
  fc
    .tuple(token, fc.uniqueArray(reminderId))
    .map(([by, ids]) => ({ type: 'show-reminders', run: by, key: 'r', turn: 0, ids }) as const),
  fc.tuple(token, waiting).map(([by, wait]) => park('$fresh', { run: by, ...wait })),
  fc.tuple(question, token).map(([asked, by]) => ask(asked, by)),
  token.map(
    (by) => ({ type: 'continue-as', run: by, key: 'k', state: 1, transcript: [] }) as const,
  ),
  fc.tuple(token, fc.constantFrom(commitPause, release, wait)).map(([by, command]) => command(by)),
)
const ending: fc.Arbitrary<Command> = fc.oneof(
  fc.constant(cancel()),
  token.map(complete),
  token.map(fail),
  token.map(reject),
)
const asked = fc.record({
  wait: fc.constantFrom(0, 0, 1, 1_000, MINUTE),
  command: fc.oneof(
    { weight: 30, arbitrary: fromOutside },
    { weight: 30, arbitrary: fromTheRun },
    { weight: 1, arbitrary: ending },
  ),
})
const held = { holds: [hold('h-1').hold] }
const rejected = { rejection: message('no') }
const created: fc.Arbitrary<Command> = fc
  .tuple(newRun, fc.constantFrom({}, {}, {}, {}, {}, held, rejected))
  .map(([by, how]) => ({ ...submit({ reminders: [reminder('a')] }), ...by, ...how }))
const sequences = fc.tuple(created, fc.array(asked, { minLength: 20, maxLength: 80, size: 'max' }))

describe('whatever is asked, in whatever order', () => {
  it('the log stays true', () => {
    fc.assert(
      fc.property(sequences, fc.nat(), ([first, rest], at) => {
        const world = createWorld()
        world.ask(first, 0)
        for (const { command, wait } of rest) world.ask(command, wait)
        world.close(at)
      }),
      { numRuns: 400 },
    )
  })

  it('of those that could wake one suspension exactly one does', () => {
    const contenders: readonly Command[] = [
      resume({ run: run('run-2') }),
      resume({ handle: 'suspend-1', cause: 'external_event' }),
      happen('built', 11),
      happen('built', 12),
      due(),
      due('run-3'),
    ]
    const order = fc.shuffledSubarray([...contenders], { minLength: 1 })
    const actions = fc.constantFrom('resume_with_summary', 'fail', 'resume_with_input')
    fc.assert(
      fc.property(order, actions, fc.boolean(), (commands, onTimeout, held) => {
        const timeout = { durationMinutes: 1, onTimeout } as const
        const story = parked({ conditions: { onEvent: 'built', timeout } })
        story.wait(MINUTE)
        const before = story.log.length
        if (held) story.tell(hold('h-1'))
        for (const command of commands) {
          if (decide(story.task, command, story.now).records) story.tell(command)
        }
        if (held) story.tell(lift('h-1'))
        const won = typesOf(story.log.slice(before)).filter((type) =>
          ['resumed', 'failed'].includes(type),
        )
        const could = !held || commands.some((command) => command.type !== 'resume')
        expect(won).toHaveLength(could ? 1 : 0)
      }),
    )
  })
})

const signer = createKeyedSigner('key-1', 'a secret')
const receiptFor = createReceipts(signer)

interface World {
  ask(command: Command, wait: number): void
  /** What can be said of the whole log; `at` picks the snapshot to fold from. */
  close(at: number): void
}

function createWorld(): World {
  const log: LogRecord[] = []
  const snapshots: (Task | undefined)[] = [undefined]
  let task: Task | undefined
  let now = 1_000_000
  let asks = 0

  function append(body: RecordBody): void {
    const before = task
    const entry: LogRecord = freeze({ ...body, seq: log.length + 1, at: now })
    const after = freeze(evolve(before, entry))
    checkFollows(before, after, entry)
    log.push(entry)
    snapshots.push(after)
    task = after
  }

  return {
    ask(template, wait) {
      now += wait
      const before = task
      const command = freeze(fill(template, before, ++asks))
      const { records = [], refusal } = decide(before, command, now)
      must(records.length === 0 || refusal === undefined, 'records or a refusal, never both')
      if (before !== undefined && isStale(before, command)) {
        must(refusal?.code === 'STALE_RUN', 'a stale run is refused')
      }
      for (const body of records) {
        append(body)
        const receipt = task && receiptFor(task, body, now)
        if (receipt !== undefined) append(receipt)
      }
      if (task !== undefined) checkSound(task)
    },
    close(at) {
      const length = at % snapshots.length
      const snapshot = plain(snapshots[length])
      expect(plain(fold(log))).toEqual(plain(task))
      expect(plain(fold(plain(log).slice(length), snapshot))).toEqual(plain(task))
      expect(pendingByRecords(log)).toEqual(task?.reminders.map((item) => item.reminder.id))
      expectStopsInOrder(log)
      const woken = log.flatMap((one) => (one.type === 'resumed' ? (one.eventPos ?? []) : []))
      expect(new Set(woken).size).toBe(woken.length)
      expect(verifyReceipts(log, signer)).toEqual([])
    },
  }
}

/** E1, E2, E4, and that only a stop moves the epoch, by one. */
function checkFollows(before: Task | undefined, after: Task, entry: LogRecord): void {
  must(after.version === entry.seq, 'E2: the version is the number of the last record')
  if (before === undefined) return
  must(!isTerminal(before.state), 'E4: nothing follows the end')
  const moved = after.state !== before.state
  must(!moved || canMove(before.state, after.state), 'E1: the state moves along the table')
  const stops = entry.type === 'paused' || entry.type === 'parked'
  must(after.epoch === before.epoch + (stops ? 1 : 0), 'only a stop moves the epoch, by one')
  must(!stops || after.suspension?.epoch === after.epoch, 'the nth suspension has epoch n')
}

/** E3, and what follows from the rules about pauses, runs and holds. */
function checkSound(task: Task): void {
  const { state, suspension, question, pausing, holds, eventsAfter, consumed } = task
  must((suspension !== undefined) === isPaused(state), 'E3: suspended exactly while paused')
  const asks = isInterrupted(state) ? state : suspension?.pausedFrom
  must(!isInterrupted(state) || question !== undefined, 'E3: a question while interrupted')
  must(question === undefined || question.state === asks, 'E3: no question in any other state')
  must(pausing === undefined || state === 'working', 'only a working task quiesces')
  must(task.run === undefined || state === 'working', 'only a working task has a run')
  const mayDefer = holds.length > 0 || suspension?.pausedFrom === 'input-required'
  must(task.deferred === undefined || mayDefer, 'only a held task, or a stopped question, defers')
  const free = state === 'working' && pausing === undefined
  must(!free || holds.length === 0, 'no agent code goes on under a hold')
  must(
    consumed.every((pos) => pos > eventsAfter),
    'only events that could come again are remembered',
  )
}

function must(condition: boolean, rule: string): void {
  if (!condition) throw new Error(`broken: ${rule}`)
}

/** One wake at most per handle, only of what was stopped last, and no handle is stopped twice. */
function expectStopsInOrder(log: readonly LogRecord[]): void {
  const stopped = new Set<string>()
  let current: string | undefined
  for (const entry of log) {
    if (entry.type === 'paused' || entry.type === 'parked') {
      expect(current).toBeUndefined()
      current = entry.type === 'paused' ? entry.handle : entry.suspension.handle
      expect(stopped).not.toContain(current)
      stopped.add(current)
    }
    if (entry.type === 'resumed') {
      expect(entry.handle).toBe(current)
      current = undefined
    }
  }
}

function isStale(task: Task, command: Command): boolean {
  if (!('run' in command) || typeof command.run !== 'string') return false
  // The engine may stop a task by policy in any state of its run.
  if (command.type === 'policy-pause') return task.run?.token !== command.run
  return task.state !== 'working' || task.run?.token !== command.run
}

function fill(template: Command, task: Task | undefined, n: number): Command {
  const filled: Readonly<Record<string, string>> = {
    $run: task?.run?.token ?? 'nobody',
    $new: `run-${n}`,
    $fresh: `suspend-${n}`,
    $handle: (task?.suspension ?? task?.pausing)?.handle ?? 'none',
  }
  return JSON.parse(JSON.stringify(template), (name, value) => {
    if (name === 'turn' && value === 0) return task?.turn ?? 0
    if (name === 'id' && value === '$wanted') return `wanted-${n}`
    return typeof value === 'string' ? (filled[value] ?? value) : value
  }) as Command
}

/** Whoever changes it from here on fails. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}

function plain<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T)
}
