/** Turns: iterations of the agent's loop. The record of its start contains what a turn sees. */

import type { Message } from '../../../core/messages/message.ts'
import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type { Reminder, TurnOutcome } from '../../../core/reminders/reminders.ts'
import { renderReminders } from '../../../core/reminders/render-reminders.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Agent } from '../../author/agent.ts'
import type { Tool, ToolResult, Turn } from '../../author/agent-task.ts'
import { transcriptInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { admit, checkBudgets } from '../admission.ts'
import { agentCall, handInDuring, type OperationScope, seqOf } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import type { Outputs } from './outputs.ts'
import { checkName, replayStep, type Steps } from './steps.ts'
import {
  createRunTranscript,
  createStepReminders,
  createTurnStart,
  type RunTranscript,
  type TurnStarted,
} from './turn-start.ts'

export interface Turns {
  run<T>(code: (turn: Turn) => Promise<T> | T): Promise<T>
  compact(): Promise<void>
  /** Ends the open turns, because the task goes on in another run. */
  endOpen(): Promise<void>
  readonly transcript: () => readonly TranscriptEntry[]
  /** The messages that the run has seen. */
  readonly heard: () => readonly Message[]
  hear(message: Message): void
  /** The reminders that the code sees, in a turn or outside of one. */
  readonly reminders: () => readonly Reminder[]
}

/** The state of an open turn. */
interface TurnProgress {
  readonly recorded: TranscriptEntry[]
  outcome: TurnOutcome
}

export function createTurns(core: RunCore, agent: Agent, steps: Steps, outputs: Outputs): Turns {
  const { gate } = core
  const transcript = createRunTranscript(core, agent, outputs)
  const start = createTurnStart(core, agent, transcript)
  const batch = createToolBatch(core, steps)
  let hasTurns = false
  const stepReminders = createStepReminders(core, () => !hasTurns)
  const open = new Map<TurnStarted, TurnProgress>()

  async function run<T>(code: (turn: Turn) => Promise<T> | T): Promise<T> {
    core.notInside('task.turn', 'step', 'turn')
    hasTurns = true
    const started = await start()
    const progress: TurnProgress = { recorded: [], outcome: 'completed' }
    open.set(started, progress)
    const scope: OperationScope = { ...core.scope, turn: started }
    const turn = createTurn({ core, steps, transcript, batch, reread }, started, progress)
    try {
      return await gate.duringTurn(async () => {
        try {
          return await core.within(scope, async () => code(turn))
        } catch (error) {
          progress.outcome = 'failed'
          throw error
        } finally {
          if (!core.dead) await close(started, progress)
        }
      })
    } finally {
      if (!core.dead) await transcript.compactIfLong()
    }
  }

  async function close(started: TurnStarted, progress: TurnProgress): Promise<void> {
    open.delete(started)
    await end(started, progress)
    core.journal.reminders.forget(started.turn)
  }

  async function endOpen(): Promise<void> {
    for (const [started, progress] of open) await end(started, progress)
  }

  async function end(started: TurnStarted, { recorded, outcome }: TurnProgress): Promise<void> {
    const key = core.key('turn-end')
    const ended = { type: 'turn-ended', key, turn: started.turn, transcript: recorded } as const
    const make = () => (outcome === 'completed' ? ended : { ...ended, outcome })
    await core.within({ ...core.scope, turn: started }, () =>
      outputs.write('turn-ended', key, make, () => undefined),
    )
  }

  /** A further read within the turn: with reminders that arrived since and without those that are gone. */
  function reread(started: TurnStarted): readonly Reminder[] {
    const { all, fresh } = core.journal.reminders.read(started, core.lastResult)
    if (fresh.length > 0) {
      const { turn } = started
      const key = core.key('reminders', String(turn))
      core.writeWithNext({ type: 'show-reminders', key, turn, ids: fresh.map(({ id }) => id) })
    }
    return all
  }

  return {
    run,
    compact: transcript.compact,
    endOpen,
    transcript: transcript.entries,
    heard: transcript.heard,
    hear: transcript.hear,
    reminders() {
      const turn = [...open.keys()].find((started) => started === core.scope.turn)
      return turn === undefined ? stepReminders() : reread(turn)
    },
  }
}

interface TurnDeps {
  readonly core: RunCore
  readonly steps: Steps
  readonly transcript: RunTranscript
  readonly batch: ToolBatch
  readonly reread: (started: TurnStarted) => readonly Reminder[]
}

/** Makes the `turn` object of agent code. */
function createTurn(deps: TurnDeps, started: TurnStarted, progress: TurnProgress): Turn {
  const { core, steps, transcript, batch, reread } = deps
  const number = started.turn
  return new TurnApi({
    number,
    messages: started.messages,
    wake: core.journal.wakes.look(),
    reread: () => reread(started),
    transcript: transcript.entries,
    record(role, content) {
      core.scope.inside?.allow('turn.record')
      const entry = { turn: number, ...parse(transcriptInput, { role, content }) }
      progress.recorded.push(entry)
      transcript.add(entry)
    },
    tool: (name, code, options) => agentCall(() => steps.run('tool', name, code, options)),
    tools: (tools) =>
      agentCall(async () => {
        const results = await batch(tools)
        if (results.some(({ status }) => status === 'skipped')) progress.outcome = 'skipped'
        return results
      }),
  })
}

/** The `turn` object that agent code gets. */
interface TurnParts
  extends Pick<Turn, 'number' | 'messages' | 'wake' | 'record' | 'tool' | 'tools'> {
  readonly reread: () => readonly Reminder[]
  readonly transcript: () => readonly TranscriptEntry[]
}

/** A class for its getters: `task-api.ts` says why. */
class TurnApi implements Turn {
  readonly #parts: TurnParts
  readonly number: Turn['number']
  readonly messages: Turn['messages']
  readonly wake: Turn['wake']
  readonly record: Turn['record']
  readonly tool: Turn['tool']
  readonly tools: Turn['tools']

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.number = parts.number
    this.messages = parts.messages
    this.wake = parts.wake
    this.record = parts.record
    this.tool = parts.tool
    this.tools = parts.tools
  }

  get reminders(): Turn['reminders'] {
    return this.#parts.reread()
  }
  get reminderBlock(): Turn['reminderBlock'] {
    return renderReminders(this.#parts.reread())
  }
  get transcript(): Turn['transcript'] {
    return this.#parts.transcript()
  }
}

/** A batch of tools: one result per tool, `done`, `failed` or `skipped`. */
type ToolBatch = (tools: readonly Tool[]) => Promise<readonly ToolResult[]>

function createToolBatch(core: RunCore, steps: Steps): ToolBatch {
  /**
   * Runs the tools one after the other as one operation, so that `finish_step` lets the batch finish.
   * `interrupt_immediate` stops between two tools, and the rest runs after the resume.
   */
  async function batch(tools: readonly Tool[]): Promise<readonly ToolResult[]> {
    const scope = core.scope
    for (const { name } of tools) checkName(name)
    const site = core.callSite()
    const keys = tools.map(({ key, name }) =>
      key === undefined ? core.key('tool', name) : core.chosenKey('tool', key),
    )
    const { results, released } = await core.gate.duringBatch(scope, async (during) => {
      const results: ToolResult[] = []
      let { place } = site
      let seq = 0
      let skipping = false
      let isBegun = false
      for (const [index, { name, run: code }] of tools.entries()) {
        const key = keys[index] ?? ''
        const entry = core.journal.get(key)
        skipping ||= entry === undefined && isInterrupted()
        if (entry !== undefined) seq = place = entry.seq
        if (entry?.kind === 'record' && entry.record.type === 'skipped') {
          results.push({ name, status: 'skipped' })
        } else if (entry !== undefined) {
          results.push(resultOf(name, () => replayStep<Json>(entry)?.value ?? null))
        } else if (skipping) {
          const make = () => ({ type: 'skipped', key, name }) as const
          const { record, written } = await handInDuring(core, during, make)
          seq = seqOf(record, await written)
          results.push({ name, status: 'skipped' })
        } else {
          const here = { ...core.callSite(), place }
          // A batch that has begun is in flight. A pause waits for it, so it does not wait for the resume.
          await (isBegun ? admit(core, { key }, here, checkBudgets) : admit(core, { key }, here))
          isBegun = true
          const handed = await steps.settle({ key, name, code, scope, site: here, during })
          const done = await handed.finished
          seq = done.seq
          results.push(resultOf(name, () => (done.settle() ?? null) as Json))
        }
      }
      // The result is in the releaser before the gate is left, because a pause that waits for the batch checks for that.
      return { results, released: seq > 0 ? core.released(seq, place) : undefined }
    })
    await released
    return results
  }

  /** Whether an interrupting reminder that no turn has shown yet is pending. */
  function isInterrupted(): boolean {
    return core.task.reminders.some(
      ({ reminder: { id, mode }, emittedAtTurn }) =>
        mode === 'interrupt_immediate' &&
        emittedAtTurn === undefined &&
        !core.journal.reminders.wasRead(id),
    )
  }

  return batch
}

function resultOf(name: string, read: () => Json): ToolResult {
  try {
    return { name, status: 'done', result: read() }
  } catch (error) {
    return { name, status: 'failed', error: describeError(error).message }
  }
}
