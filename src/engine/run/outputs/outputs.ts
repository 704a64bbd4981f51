/** The outputs of a run: status messages, progress, artifacts and usage. */
import { LullError } from '../../../core/errors.ts'
import type { PartInput } from '../../../core/messages/message.ts'
import type { JournalRecord, UsageReport } from '../../../core/records.ts'
import { usageInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { checkBudgets } from '../author-functions.ts'
import { type FollowUp, gatedRecord, Handed } from '../operation.ts'
import { recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'
import { type Artifacts, createArtifacts } from './artifacts.ts'
import { agentMessage, partsOf } from './parts.ts'

/**
 * Writes a journaled record that has no effect outside of the task.
 * @param make makes the record when it may be written
 * @param read makes the value for the caller from the record
 * @param after follows when the record is durable, before the caller has the value
 * @param before records that come before it in the same commit
 */
export type Tell = <T extends JournalRecord['type'], V>(
  type: T,
  key: string,
  make: () => JournalRecord & { readonly type: T },
  read: (record: JournalRecord & { readonly type: T }) => V,
  after?: FollowUp,
  before?: () => readonly JournalRecord[],
) => Promise<V>

export interface Outputs extends Artifacts {
  say(content: string | readonly PartInput[]): Promise<void>
  progress(fraction: number, text?: string): Promise<void>
  usage(usage: UsageReport): Promise<void>
  readonly tell: Tell
}

export function createOutputs(core: RunCore): Outputs {
  const { host } = core

  const tell: Tell = (type, key, make, read, after, before) => {
    const scope = core.scope
    return core.perform({
      key,
      harmless: true,
      replay: (entry) => {
        const record = recordOf(entry, type)
        return record && { value: read(record) }
      },
      live: async () => {
        const handed = await gatedRecord(core, scope, make, before)
        return Handed.record(handed, () => read(handed.record), after)
      },
    })
  }

  const done = (): void => undefined

  function say(content: string | readonly PartInput[]): Promise<void> {
    const parts = partsOf(content)
    const key = core.key('say')
    const message = () => agentMessage(core, host.ids.uuid(), parts)
    return tell('said', key, () => ({ type: 'said', key, message: message() }), done)
  }

  function progress(fraction: number, text?: string): Promise<void> {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new LullError('INVALID_INPUT', { path: 'fraction', problem: 'must be from 0 to 1' })
    }
    const parts = text === undefined ? undefined : partsOf(text)
    const key = core.key('progress')
    const message = () =>
      parts === undefined ? {} : { message: agentMessage(core, host.ids.uuid(), parts) }
    return tell('said', key, () => ({ type: 'said', key, progress: fraction, ...message() }), done)
  }

  function usage(given: UsageReport): Promise<void> {
    const key = core.key('usage')
    const used = parse(usageInput, given, 'usage')
    const make = () => ({ type: 'usage', key, usage: used }) as const
    return tell('usage', key, make, done, () => checkBudgets(core))
  }

  return { say, progress, usage, tell, ...createArtifacts(core, tell) }
}
