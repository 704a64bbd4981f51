/**
 * One run of an agent on a task: a live JavaScript frame with a token. It begins fresh or from a journal, follows the
 * records of its task (pause, resume, answer, cancel), and is over when the task ends or somebody else has it.
 */

import type { ResumeConditions } from '../../core/conditions.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { PauseMode, PolicyReason } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Agent } from '../agent.ts'
import type { AgentTask } from '../agent-task.ts'
import type { Conversation } from '../conversation.ts'
import { json } from '../inputs.ts'
import { parse } from '../parse.ts'
import { createAsk } from '../providers/asking.ts'
import { createRunCore } from './core.ts'
import type { RunHost } from './host.ts'
import type { Journal } from './journal.ts'
import { Operations } from './operations.ts'
import { outcomeOf } from './outcome.ts'
import { createTaskApi } from './task-api.ts'

export interface Run {
  readonly taskId: string
  readonly agent: string
  start(): void
  /** Goes on with a new token: the task was resumed or answered while the run was warm. */
  adopt(token: string): void
  /** Follows what was written to the task, by whomever. */
  observe(records: readonly LogRecord[], task: Task): void
  /** Whether a pause could commit now; if so, nothing starts until `observe` or `thaw`. */
  freeze(mode: PauseMode): boolean
  thaw(): void
  /** The task as last written. */
  readonly task: () => Task
  /** Gives the run up: nothing of it settles or is written any more. */
  discard(): void
  /** For a process that stops: comes to a boundary, or to the end of its time, and hands the task on. */
  release(late: Promise<void>): Promise<void>
  readonly dead: () => boolean
  /** Operations in flight. */
  readonly steps: () => number
  /** It only waits for children and needs no slot. */
  readonly resting: () => boolean
  /** The children it waits for. */
  readonly awaited: () => readonly string[]
}

export interface RunDeps {
  readonly host: RunHost
  readonly agent: Agent
  readonly task: Task
  readonly token: string
  readonly journal: Journal
  readonly conversation: Conversation
  readonly referenced: readonly Task[]
  /** The task is not durable yet: what it does waits until the run observes that it is. */
  readonly ahead?: boolean
  /** The task goes on in a new run (`continueAs`). */
  readonly again: () => void
  /** Somebody else has the task. */
  readonly lost: () => void
}

const RETRY_MS = 1_000

export function createRun(deps: RunDeps): Run {
  const { host, agent, task: first, journal, conversation, referenced, again, lost } = deps
  let controller: AbortController | undefined
  let { token } = deps
  let committing = false
  /** Set while the process stops. */
  let handOver: ((reason: string) => void) | undefined
  /** The run has said its last word itself. */
  let ending = false
  /** Set while it is handed on: the run is over. */
  let ended: (() => void) | undefined
  /** The code no longer fits the journal: after the stop the run is rebuilt. */
  let changed = false
  /** The journal limit was told. */
  let limited = false

  const core = createRunCore({
    host,
    journal,
    first,
    ahead: deps.ahead ?? false,
    token: () => token,
    moved,
    reacted,
    mismatch,
    ask: createAsk(host, agent),
    lost: () => {
      die()
      lost()
    },
  })
  const { gate, releaser } = core
  const operations = new Operations(core, agent, signal, () => setImmediate(reacted))

  /** Made when it is looked at: few agents do. */
  function signal(): AbortSignal {
    if (controller === undefined) {
      controller = new AbortController()
      if (core.dead()) controller.abort()
    }
    return controller.signal
  }

  /** The first stretch of code runs like any other: released in its place, and timed. */
  function start(): void {
    const begin = (): void => {
      journal.wakes.show(0)
      execute().catch((error: unknown) => {
        if (core.dead()) return
        host.log('error', 'a run failed inside the engine', { taskId: first.id, error })
      })
    }
    if (deps.ahead) releaser.now(begin)
    else releaser.push(0, begin)
    // Begun by `continueAs` while a pause is under way.
    if (first.pausing !== undefined) quiesce(first.pausing.mode ?? 'finish_step')
  }

  async function execute(): Promise<void> {
    const api = createTaskApi({ operations, conversation, referenced, continueAs })
    const end = await outcomeOf(agent, api, operations)
    if (core.dead()) return
    const children = operations.childrenExist()
    if (children !== undefined) await children
    const entered = gate.enterLast()
    if (entered !== undefined) await entered
    ending = true
    await core.persist(end)
    die()
  }

  async function continueAs(state: Parameters<AgentTask['continueAs']>[0]): Promise<never> {
    core.notInside('step')
    const kept = parse(json, state, 'state')
    await operations.turns.endOpen()
    const key = core.key('continue')
    await operations.childrenExist()
    await gate.enterLast()
    const transcript = operations.turns.transcript()
    await core.persist({ type: 'continue-as', key, state: kept, transcript })
    die()
    again()
    return new Promise(() => undefined)
  }

  function reacted(): void {
    if (core.dead()) return
    if (resting()) host.rest(first.id)
    moved()
  }

  /** Waits for children and does nothing else. */
  function resting(): boolean {
    const { length } = operations.awaited()
    return length > 0 && gate.waitsOnlyFor(length) && isOurs(core.task())
  }

  /** Something came to rest: is it what an accepted pause was waiting for? */
  function moved(): void {
    if (handOver !== undefined) {
      if (gate.atBoundary('finish_step')) handOver('it reached a boundary')
      return
    }
    const mode = gate.pausing()
    if (mode === undefined || committing || !gate.atBoundary(mode)) return
    committing = true
    // What started from here on would be under way when the pause is told.
    close()
    const { handle, conditions } = core.task().pausing ?? {}
    const fireAt = firesAt(conditions)
    core
      .persist({
        type: 'commit-pause',
        ...(handle === undefined ? {} : { handle }),
        ...(fireAt === undefined ? {} : { fireAt }),
      })
      .catch((error: unknown) =>
        host.log('error', 'a pause could not commit', { taskId: first.id, error }),
      )
      .finally(() => {
        committing = false
        thaw()
      })
  }

  /** A schedule that fired its last time since the pause was asked for keeps that time. */
  function firesAt(conditions: ResumeConditions | undefined): number | undefined {
    try {
      return host.fireAt(conditions)
    } catch {
      return undefined
    }
  }

  /** The code asks for something else than what is recorded: an operator decides, nobody guesses. */
  function mismatch(key: string): void {
    changed = true
    gate.wait()
    const summary = `The recorded operation ${key} is not what the code asks for now. Resume to run it anew, or cancel.`
    stopByPolicy({ reason: 'code-changed', summary, mismatch: key })
  }

  /** Commits at once where the run stands still, at its next boundary otherwise. */
  function stopByPolicy(policy: {
    readonly reason: PolicyReason
    readonly summary: string
    readonly mismatch?: string
  }): void {
    host
      .commit(first.id, () => ({
        type: 'policy-pause',
        handle: `suspend-${host.ids.uuid()}`,
        ...policy,
        atBoundary: freeze('finish_step'),
        run: token,
      }))
      .catch((error: unknown) => {
        if (core.dead()) return
        const taskId = first.id
        host.log('error', `could not stop for ${policy.reason}; trying again`, { taskId, error })
        thaw()
        host.clock.after(RETRY_MS, () => {
          if (!core.dead()) stopByPolicy(policy)
        })
      })
  }

  /** What was frozen was not written: it goes on as it was. */
  function thaw(): void {
    const task = core.task()
    if (committing || !isOurs(task)) return
    open(task.pausing && (task.pausing.mode ?? 'finish_step'))
  }

  function observe(records: readonly LogRecord[], task: Task): void {
    core.follow(task)
    for (const record of records) {
      const woken = journal.follow(record)
      switch (record.type) {
        case 'pause-requested':
        case 'pause-upgraded':
          if (task.pausing !== undefined) quiesce(task.pausing.mode ?? 'finish_step')
          break
        case 'paused':
          close()
          // Code that is in no `task.*` call cannot be frozen, and code that looked at a wake cannot be told another:
          // it is given up and rebuilt on resume.
          if (gate.waiting() === 0 || changed || journal.wakes.looked()) discard()
          break
        case 'parked':
          close()
          break
        case 'asked':
          operations.stops.asked(record.key)
          close()
          break
        case 'pause-withdrawn':
          if (isOurs(task)) open()
          break
        case 'resumed':
          if (woken?.park !== undefined) {
            operations.stops.woken(woken.park.key, woken.wake, record.seq)
          }
          break
        case 'answered':
          operations.stops.answered(record.message, record.decision, record.seq)
          break
        default:
      }
    }
    // It stopped by itself: there is nothing to hand over any more.
    if (!isOurs(task)) handOver?.('it stopped')
    if (isTerminal(task.state)) {
      if (!ending) discard()
    } else checkJournal(task)
  }

  function quiesce(mode: PauseMode): void {
    if (mode !== 'wait_for_completion') releaser.hold()
    if (mode === 'interrupt_immediate') operations.interrupt()
    gate.pause(mode)
  }

  function close(): void {
    releaser.shut()
    gate.close()
  }

  /** Whether the task runs, and here. A warm run whose task waits for a slot stands still. */
  function isOurs({ state, run }: Task): boolean {
    return state === 'working' && run?.token === token
  }

  function freeze(mode: PauseMode): boolean {
    if (!isOurs(core.task())) return true
    // A record that was handed in but not looked at yet would come after the pause.
    if (core.unwritten() > 0 || !gate.atBoundary(mode)) return false
    close()
    return true
  }

  /** With a mode, a pause is still under way. */
  function open(mode?: PauseMode): void {
    releaser.open()
    if (mode !== undefined && mode !== 'wait_for_completion') releaser.hold()
    gate.reopen(mode)
  }

  function checkJournal(task: Task): void {
    if (task.state !== 'working' || task.pausing !== undefined) return
    const { journalRecords } = host.limits
    if (limited || task.version - task.journal.countFrom < journalRecords) return
    limited = true
    const summary = `More than ${journalRecords} records without task.continueAs(state). Resume to go on for as many again, or cancel.`
    stopByPolicy({ reason: 'journal-limit', summary })
  }

  async function release(late: Promise<void>): Promise<void> {
    if (core.dead() || !isOurs(core.task())) return
    const reason = await new Promise<string>((resolve) => {
      handOver = resolve
      late.then(() => resolve('it reached no boundary in time')).catch(() => undefined)
      releaser.hold()
      gate.pause('finish_step')
    })
    if (core.dead() || !isOurs(core.task())) return
    // Something still runs: a pause is not reported before it is true. The next process commits it before it starts anything.
    if (core.task().pausing !== undefined && !gate.atBoundary('finish_step')) return
    await new Promise<void>((resolve, reject) => {
      ended = resolve
      core.persist({ type: 'release', reason }).then(() => resolve(), reject)
    })
  }

  function die(): void {
    core.die()
    // What has ended has nothing to hand over, and must not keep a stopping process waiting.
    ended?.()
    handOver?.('it has ended')
  }

  function discard(): void {
    if (core.dead()) return
    die()
    operations.interrupt()
    controller?.abort()
  }

  return {
    taskId: first.id,
    agent: agent.name,
    start,
    adopt(next) {
      token = next
      limited = false
      open()
    },
    observe,
    freeze,
    thaw,
    task: core.task,
    discard,
    release,
    dead: core.dead,
    steps: gate.inFlight,
    resting,
    awaited: () => operations.awaited(),
  }
}
