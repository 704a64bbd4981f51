/** Turns: iterations of the agent's loop. The record of its start contains what a turn sees. */
import type { Message } from '../../../core/messages/message.ts'
import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type { Reminder, TurnOutcome } from '../../../core/reminders/reminders.ts'
import type { Agent } from '../../author/agent.ts'
import type { Turn } from '../../author/agent-task.ts'
import { transcriptInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import type { OperationScope } from '../operation.ts'
import type { Outputs } from '../outputs/outputs.ts'
import type { RunCore } from '../run-core.ts'
import { createStepReminders } from '../steps/step-reminders.ts'
import type { Steps } from '../steps/steps.ts'
import { createToolBatch, type ToolBatch } from '../steps/tool-batch.ts'
import { agentCall } from './agent-call.ts'
import { createRunTranscript, type RunTranscript } from './run-transcript.ts'
import { TurnApi } from './turn-api.ts'
import { createTurnStart, type TurnStarted } from './turn-start.ts'

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
      outputs.tell('turn-ended', key, make, () => undefined),
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
