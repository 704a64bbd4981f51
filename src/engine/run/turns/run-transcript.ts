/** The transcript of a run. A rebuilt run makes the same transcript from its journal. */

import type { Message, Part } from '../../../core/messages/message.ts'
import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type { MembersOf } from '../../../core/values/json.ts'
import type { Agent, Spend } from '../../author/agent.ts'
import { transcriptEntriesInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { allowedDuring, checkBudgets, orDefault } from '../author-functions.ts'
import type { Outputs } from '../outputs/outputs.ts'
import { createSpending } from '../outputs/spending.ts'
import type { RunCore } from '../run-core.ts'
import type { TurnStarted } from './turn-start.ts'

const LIMIT = 1_000

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
    entries = await outputs.tell('compacted', key, make, (one) => one.transcript, after, before)
  }

  async function shortened(spend: Spend): Promise<readonly TranscriptEntry[]> {
    const newest = (): readonly TranscriptEntry[] => entries.slice(-Math.ceil(limit / 2))
    const { compact: shorten } = agent
    if (shorten === undefined) return newest()
    // It waits for a pause or a hold here, because its function runs outside of the gate.
    const { scope } = core
    await allowedDuring(core, scope, 'compact:#1', (work) => core.gate.during(scope, work))(
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
