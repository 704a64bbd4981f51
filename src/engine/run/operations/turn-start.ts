/**
 * What a turn sees when it starts: messages, reminders, transcript, digest. Its record contains them, so that a rebuilt run
 * sees the same.
 *
 * An agent that does not use `task.turn` reads reminders too (`createStepReminders`). Each step that is not inside another
 * step then counts as one turn. A reminder that the code reads before or inside such a step is shown in that turn. The
 * step's record takes one off its TTL.
 *
 * T1  A read is journaled, so a rebuilt run reads the same.
 * T2  All reads after one result and before the next give the same list.
 * T3  A reminder that waits for the completion of a turn is not shown to a later read of the same turn, also when the run
 *     was rebuilt between the two reads.
 * T4  The first read of a turn asks the providers, as the start of a `task.turn` does, until the code has called
 *     `task.turn`: from then on the providers are asked there.
 */

import type { Providing } from '../../../core/commands.ts'
import { providing } from '../../../core/decide/reminding.ts'
import { type DigestLog, defaultDigest, followDigest } from '../../../core/digest.ts'
import { LullError } from '../../../core/errors.ts'
import type { Message, Part } from '../../../core/messages/message.ts'
import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type { JournalRecord, LogRecord, UsageReport } from '../../../core/records.ts'
import { isVisible, type Reminder } from '../../../core/reminders/reminders.ts'
import type { Task } from '../../../core/task.ts'
import type { MembersOf } from '../../../core/values/json.ts'
import type { Agent, Spend } from '../../author/agent.ts'
import type { TurnStart } from '../../author/providers/provider.ts'
import { transcriptEntriesInput, usageInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { checkBudgets, orDefault, whenAllowed } from '../admission.ts'
import { HandedIn } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import type { Outputs } from './outputs.ts'

export type TurnStarted = LogRecord & { readonly type: 'turn-started' }

export function createTurnStart(
  core: RunCore,
  agent: Agent,
  transcript: RunTranscript,
): () => Promise<TurnStarted> {
  const { host, gate } = core
  const { spend, take } = createSpending()

  async function start(): Promise<TurnStarted> {
    const key = core.key('turn')
    // It is recorded without the turn if a pause came first.
    core.place.noteCall(usageKeyOf(key))
    const started = await core.perform<TurnStarted>({
      key,
      isTaskOnly: true,
      replay: (entry) => {
        const record = entry.kind === 'record' ? entry.record : undefined
        return record?.type === 'turn-started' ? { value: record } : undefined
      },
      live: () => begin(key),
    })
    transcript.begin(started)
    return started
  }

  /** While a pause is under way, the turn waits for the resume. */
  async function begin(key: string): Promise<HandedIn<TurnStarted>> {
    const scope = core.scope
    const during = whenAllowed(
      core,
      scope,
      'digest:#1',
      (work) => gate.during(scope, work),
      () => needsDigest(core.task) && agent.digest !== undefined,
    )
    let spent = false
    for (;;) {
      const { written } = await during(async () => {
        const digest = await digestOf(core.task)
        const digested = digest === undefined ? {} : { digest }
        const task = core.task
        const wanted = core.ask(turnStarting(core, digested), task)
        const usage = take(key)
        spent ||= usage !== undefined
        const used = usage === undefined ? {} : { usage }
        return {
          written: core.persist({ type: 'start-turn', key, ...digested, ...used, ...wanted }),
        }
      })
      const { records } = await written
      const started = records.find(
        (record): record is TurnStarted => record.type === 'turn-started',
      )
      if (started === undefined) continue
      const finish = () => ({ seq: started.seq, settle: () => started })
      return HandedIn.over(written, finish, () => (spent ? checkBudgets(core) : undefined))
    }
  }

  /** The digest, for the first turn after a resume with `continueTranscript: false`. */
  async function digestOf(task: Task): Promise<string | undefined> {
    if (!needsDigest(task)) return undefined
    const { digest } = agent
    if (digest === undefined) return digestOfLog(task)
    const made = (): Promise<string> => checkedDigest(digest(transcript.entries(), spend))
    return orDefault(core, 'digest', made, () => digestOfLog(task))
  }

  /** Reads the results of steps from the log, because the folded task does not contain them. */
  async function digestOfLog(task: Task): Promise<string> {
    let seen: DigestLog = { steps: [] }
    for await (const record of host.records(task)) seen = followDigest(seen, record)
    return defaultDigest(task, seen)
  }

  return start
}

function needsDigest({ wake, wakeUnseen }: Task): boolean {
  return wakeUnseen === true && wake?.continueTranscript === false
}

/** The input of the providers when a turn starts. */
export function turnStarting(
  { task, host }: Pick<RunCore, 'task' | 'host'>,
  digested: Pick<TurnStart, 'digest'> = {},
): TurnStart {
  const { wake, wakeUnseen, turn, updatedAt } = task
  return {
    type: 'turn-starting',
    turn: turn + 1,
    idleMs: host.clock.now() - updatedAt,
    ...(wakeUnseen && wake !== undefined ? { wake } : {}),
    ...digested,
  }
}

/** @throws LullError `INVALID_INPUT` when the digest is no text */
async function checkedDigest(made: unknown): Promise<string> {
  const digest = await made
  if (typeof digest === 'string') return digest
  throw new LullError('INVALID_INPUT', { path: 'digest', problem: 'must give a text' })
}

/** The transcript limit of an agent that sets none. */
const LIMIT = 1_000

/** The transcript of a run. A rebuilt run makes the same transcript from its journal. */
export interface RunTranscript {
  readonly entries: () => readonly TranscriptEntry[]
  add(entry: TranscriptEntry): void
  /** A turn began: its messages are added, and its digest replaces the earlier entries. */
  begin(started: TurnStarted): void
  compact(): Promise<void>
  compactIfLong(): Promise<void>
  /** The messages that the run has seen. */
  readonly heard: () => readonly Message[]
  hear(message: Message): void
}

export function createRunTranscript(core: RunCore, agent: Agent, outputs: Outputs): RunTranscript {
  const { transcriptLimit: limit = LIMIT } = agent
  let entries: readonly TranscriptEntry[] = core.journal.transcript
  let heard: readonly Message[] = core.task.history.slice(0, 1)

  function begin({ turn, digest, messages }: TurnStarted): void {
    if (digest !== undefined) entries = [{ turn, role: 'digest', content: digest }]
    for (const message of messages) {
      hear(message)
      const content: readonly MembersOf<Part>[] = message.parts
      entries = [...entries, { turn, role: 'user', content }]
    }
  }

  async function compact(): Promise<void> {
    const key = core.key('compact')
    const { spend, take } = createSpending()
    const shorter = core.journal.get(key) === undefined ? await shortened(spend) : []
    const make = () => ({ type: 'compacted', key, transcript: shorter }) as const
    const used = take(key)
    const [after, before] = used === undefined ? [] : [() => checkBudgets(core), () => [used]]
    entries = await outputs.write('compacted', key, make, (one) => one.transcript, after, before)
  }

  async function shortened(spend: Spend): Promise<readonly TranscriptEntry[]> {
    const newest = (): readonly TranscriptEntry[] => entries.slice(-Math.ceil(limit / 2))
    const { compact: shorten } = agent
    if (shorten === undefined) return newest()
    // It waits for a pause or a hold here, because its function runs outside of the gate.
    const { scope } = core
    await whenAllowed(core, scope, 'compact:#1', (work) => core.gate.during(scope, work))(
      () => undefined,
    )
    const made = async () => parse(transcriptEntriesInput, await shorten(entries, spend), 'compact')
    return orDefault(core, 'compact', made, newest)
  }

  function hear(message: Message): void {
    if (!heard.some((known) => known.messageId === message.messageId)) heard = [...heard, message]
  }

  return {
    entries: () => entries,
    add(entry) {
      entries = [...entries, entry]
    },
    begin,
    compact,
    async compactIfLong() {
      if (entries.length > limit) await compact()
    },
    heard: () => heard,
    hear,
  }
}

/**
 * The usage that a function of the agent (`digest`, `compact`) reports. It is written in the same commit as the record that
 * the function made: a process that dies leaves both or none.
 */
function createSpending() {
  let used: UsageReport | undefined
  return {
    spend: (usage: UsageReport): void => {
      used = usage
    },
    /** The record of what was reported since the last call, for the operation with this key. */
    take(key: string): (JournalRecord & { readonly type: 'usage' }) | undefined {
      if (used === undefined) return undefined
      const usage = parse(usageInput, used, 'usage')
      used = undefined
      return { type: 'usage', key: usageKeyOf(key), usage }
    },
  }
}

/** The key of the usage record of the operation with this key. */
function usageKeyOf(key: string): string {
  return `${key}/usage`
}

/** The journaled value of a read of reminders outside of a turn. */
type RecordedRead = {
  readonly turn: number
  readonly reminders: readonly MembersOf<Reminder>[]
}

interface Read {
  readonly result: number
  readonly prefix: string
  readonly reminders: readonly Reminder[]
}

/**
 * Reads the reminders for code outside of a turn (T1 to T4).
 * @param asksProviders whether the code has called no `task.turn` so far
 */
export function createStepReminders(
  core: RunCore,
  asksProviders: () => boolean,
): () => readonly Reminder[] {
  let last: Read | undefined
  let lastTurn = 0

  /** The pending reminders and those that the providers add, as the next turn shows them. */
  function show(key: string): RecordedRead {
    const { task } = core
    const turn = task.turn + 1
    const isFirst = lastTurn !== turn
    const starting = isFirst && asksProviders() ? turnStarting(core) : undefined
    const wanted: Providing = starting === undefined ? {} : core.ask(starting, task)
    const { pending } = providing(task.reminders, wanted)
    const when = isFirst ? 'start' : 'reread'
    const visible = pending.filter((item) => item.shownInTurn === turn || isVisible(item, when))
    const fresh = visible.filter((item) => item.shownInTurn !== turn)
    const wake = starting?.wake
    if (fresh.length > 0 || wake !== undefined) {
      const ids = fresh.map(({ reminder }) => reminder.id)
      const told = wake === undefined ? {} : { toldWake: wake.handle }
      core.writeWithNext({ type: 'show-reminders', key, turn, ids, ...told, ...wanted })
    }
    const reminders = visible.map(({ reminder, emittedAtTurn = turn }) => ({
      ...reminder,
      firedAtTurn: emittedAtTurn,
    }))
    return { turn, reminders }
  }

  return () => {
    const result = core.lastResult
    const { prefix } = core.scope
    if (last?.result === result && last.prefix === prefix) return last.reminders
    const key = core.key('reminders')
    const { turn, reminders } = core.value<RecordedRead>('reminders-read', () => show(key))
    lastTurn = turn
    last = { result, prefix, reminders }
    return reminders
  }
}
