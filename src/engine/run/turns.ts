/** Turns: iterations of the agent's loop. What a turn saw is recorded when it starts, so a rebuilt run sees the same. */
import { describeError } from '../../core/describe-error.ts'
import { type DigestLog, defaultDigest, followDigest } from '../../core/digest.ts'
import type { Json } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Reminder, TurnOutcome } from '../../core/reminders.ts'
import { renderReminders } from '../../core/render-reminders.ts'
import type { Task } from '../../core/task.ts'
import type { TranscriptEntry } from '../../core/transcript.ts'
import type { Agent } from '../agent.ts'
import type { Tool, ToolResult, Turn } from '../agent-task.ts'
import { transcriptInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import type { TurnStarting } from '../providers/provider.ts'
import type { Finished, OperationScope, RunCore } from './core.ts'
import { recordedDuring } from './gated-record.ts'
import type { Outputs } from './outputs.ts'
import { quietly } from './quietly.ts'
import { checkName, recordedStep, type Steps } from './step.ts'

export interface Turns {
  run<T>(code: (turn: Turn) => Promise<T> | T): Promise<T>
  compact(): Promise<void>
  /** Ends the turns that are open: the task goes on in another run. */
  endOpen(): Promise<void>
  readonly transcript: () => readonly TranscriptEntry[]
  /** Messages the run has seen. */
  readonly heard: () => readonly Message[]
  hear(message: Message): void
}

type TurnStarted = LogRecord & { readonly type: 'turn-started' }

const TRANSCRIPT_LIMIT = 1_000

/** How a turn goes. */
interface Course {
  readonly recorded: TranscriptEntry[]
  outcome: TurnOutcome
}

export function createTurns(core: RunCore, agent: Agent, steps: Steps, outputs: Outputs): Turns {
  const { host, gate } = core
  let transcript: readonly TranscriptEntry[] = core.journal.transcript
  const open = new Map<TurnStarted, Course>()
  let heard: readonly Message[] = core.task.history.slice(0, 1)

  async function run<T>(code: (turn: Turn) => Promise<T> | T): Promise<T> {
    core.notInside('task.turn', 'step', 'turn')
    const started = await start()
    const course: Course = { recorded: [], outcome: 'completed' }
    open.set(started, course)
    const scope: OperationScope = { ...core.scope, turn: started }
    const turn = createTurn(started, course)
    try {
      return await gate.duringTurn(async () => {
        try {
          return await core.within(scope, async () => code(turn))
        } catch (error) {
          course.outcome = 'failed'
          throw error
        } finally {
          if (!core.dead) await close(started, course)
        }
      })
    } finally {
      const limit = agent.transcriptLimit ?? TRANSCRIPT_LIMIT
      if (!core.dead && transcript.length > limit) await compact()
    }
  }

  async function close(started: TurnStarted, course: Course): Promise<void> {
    open.delete(started)
    await end(started, course)
    core.journal.reminders.forget(started.turn)
  }

  async function endOpen(): Promise<void> {
    for (const [started, course] of open) await end(started, course)
  }

  async function start(): Promise<TurnStarted> {
    const key = core.key('turn')
    const started = await core.perform<TurnStarted>({
      key,
      harmless: true,
      replay: (entry) => {
        const record = entry.kind === 'record' ? entry.record : undefined
        return record?.type === 'turn-started' ? { value: record } : undefined
      },
      live: () => begin(key),
    })
    if (started.digest !== undefined) {
      transcript = [{ turn: started.turn, role: 'digest', content: started.digest }]
    }
    for (const message of started.messages) hear(message)
    transcript = [
      ...transcript,
      ...started.messages.map(
        (message): TranscriptEntry => ({
          turn: started.turn,
          role: 'user',
          content: message.parts as unknown as TranscriptEntry['content'],
        }),
      ),
    ]
    return started
  }

  /** A turn that meets a pause under way starts after the resume. */
  async function begin(key: string): Promise<Finished<TurnStarted>> {
    const scope = core.scope
    for (;;) {
      const { written } = await gate.during(scope, async () => {
        const digest = await digestOf(core.task)
        const digested = digest === undefined ? {} : { digest }
        const task = core.task
        const wanted = core.ask(starting(task, digested), task)
        return { written: core.persist({ type: 'start-turn', key, ...digested, ...wanted }) }
      })
      const { records } = await written
      const started = records.find(
        (record): record is TurnStarted => record.type === 'turn-started',
      )
      if (started !== undefined) return { seq: started.seq, settle: () => started }
    }
  }

  function starting(task: Task, digested: Pick<TurnStarting, 'digest'>): TurnStarting {
    const { wake, wakeUnseen, turn, updatedAt } = task
    return {
      type: 'turn-starting',
      turn: turn + 1,
      idleMs: host.clock.now() - updatedAt,
      ...(wakeUnseen && wake !== undefined ? { wake } : {}),
      ...digested,
    }
  }

  /** Only the first turn after a wake that asked for it. */
  async function digestOf(task: Task): Promise<string | undefined> {
    const { wake, wakeUnseen } = task
    if (!wakeUnseen || wake?.continueTranscript !== false) return undefined
    return agent.digest?.(transcript) ?? digestOfLog(task)
  }

  /** The task holds no results of steps: they are read from its log. */
  async function digestOfLog(task: Task): Promise<string> {
    let seen: DigestLog = { steps: [] }
    for await (const record of host.records(task.id)) seen = followDigest(seen, record)
    return defaultDigest(task, seen)
  }

  async function end(started: TurnStarted, { recorded, outcome }: Course): Promise<void> {
    const key = core.key('turn-end')
    const ended = { type: 'turn-ended', key, turn: started.turn, transcript: recorded } as const
    const make = () => (outcome === 'completed' ? ended : { ...ended, outcome })
    await core.within({ ...core.scope, turn: started }, () =>
      outputs.tell(key, make, () => undefined),
    )
  }

  function createTurn(started: TurnStarted, course: Course): Turn {
    const number = started.turn
    const { reminders: view } = core.journal

    /** Reading again: what arrived since and may be shown within a running turn, without what is gone. */
    function reread(): readonly Reminder[] {
      const { all, fresh } = view.read(started, core.lastResult)
      if (fresh.length > 0) {
        const key = core.key('reminders', String(number))
        core.later({ type: 'show-reminders', key, turn: number, ids: fresh.map(({ id }) => id) })
      }
      return all
    }

    return new TurnApi({
      number,
      messages: started.messages,
      wake: core.journal.wakes.look(),
      reread,
      transcript: () => transcript,
      record(role, content) {
        core.scope.inside?.allow('turn.record')
        const entry = { turn: number, ...parse(transcriptInput, { role, content }) }
        course.recorded.push(entry)
        transcript = [...transcript, entry]
      },
      tool: (name, code, options) => quietly(() => steps.run('tool', name, code, options)),
      tools: (tools) =>
        quietly(async () => {
          const results = await batch(tools)
          if (results.some(({ status }) => status === 'skipped')) course.outcome = 'skipped'
          return results
        }),
    })
  }

  /**
   * One after the other, in flight as a whole, so that `finish_step` lets the batch finish; `interrupt_immediate` stops
   * between two tools, and the rest is dispatched after the resume.
   */
  async function batch(tools: readonly Tool[]): Promise<readonly ToolResult[]> {
    const scope = core.scope
    for (const { name } of tools) checkName(name)
    const asked = core.asked()
    const keys = tools.map((tool) => core.key('tool', tool.name))
    const { results, released } = await gate.duringBatch(scope, async (during) => {
      const results: ToolResult[] = []
      let { place } = asked
      let seq = 0
      let skipping = false
      for (const [index, { name, run: code }] of tools.entries()) {
        const key = keys[index] ?? ''
        const entry = core.journal.get(key)
        skipping ||= entry === undefined && isInterrupted()
        if (entry !== undefined) seq = place = entry.seq
        if (entry?.kind === 'record' && entry.record.type === 'skipped') {
          results.push({ name, status: 'skipped' })
        } else if (entry !== undefined) {
          results.push(resultOf(name, () => recordedStep<Json>(entry)?.value ?? null))
        } else if (skipping) {
          const make = () => ({ type: 'skipped', key, name }) as const
          seq = (await recordedDuring(core, during, make)).seq
          results.push({ name, status: 'skipped' })
        } else {
          const here = { ...core.asked(), place }
          await core.admit({ key }, here)
          const done = await steps.settle({ key, name, code, scope, asked: here, during })
          seq = done.seq
          results.push(resultOf(name, () => (done.settle() ?? null) as Json))
        }
      }
      // Withheld before the gate is left: that is what a pause that waits for the batch looks for.
      return { results, released: seq > 0 ? core.released(seq, place) : undefined }
    })
    await released
    return results
  }

  /** A reminder that no turn has shown yet wants to be read before the next tool is dispatched. */
  function isInterrupted(): boolean {
    return core.task.reminders.some(
      ({ reminder: { id, mode }, emittedAtTurn }) =>
        mode === 'interrupt_immediate' &&
        emittedAtTurn === undefined &&
        !core.journal.reminders.wasRead(id),
    )
  }

  async function compact(): Promise<void> {
    const key = core.key('compact')
    const limit = agent.transcriptLimit ?? TRANSCRIPT_LIMIT
    const shorter =
      core.journal.get(key) === undefined
        ? await (agent.compact?.(transcript) ?? transcript.slice(-Math.ceil(limit / 2)))
        : []
    const make = () => ({ type: 'compacted', key, transcript: shorter }) as const
    transcript = await outputs.tell(key, make, (record) => record.transcript)
  }

  function hear(message: Message): void {
    if (!heard.some((known) => known.messageId === message.messageId)) heard = [...heard, message]
  }

  return {
    run,
    compact,
    endOpen,
    transcript: () => transcript,
    heard: () => heard,
    hear,
  }
}

interface TurnParts
  extends Pick<Turn, 'number' | 'messages' | 'wake' | 'record' | 'tool' | 'tools'> {
  readonly reread: () => readonly Reminder[]
  readonly transcript: () => readonly TranscriptEntry[]
}

/** A class for its getters: `operations.ts` says why. */
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

function resultOf(name: string, read: () => Json): ToolResult {
  try {
    return { name, status: 'done', result: read() }
  } catch (error) {
    return { name, status: 'failed', error: describeError(error).message }
  }
}
