/**
 * What a function of the agent (`digest`, `compact`) has used. It is written in the same commit as the record that the
 * function made: a process that dies leaves both or none.
 */
import type { JournalRecord, UsageReport } from '../../../core/records.ts'
import type { Spend } from '../../author/agent.ts'
import { usageInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'

type UsageRecord = JournalRecord & { readonly type: 'usage' }

interface Spending {
  readonly spend: Spend
  /** The record of what was reported since the last call, for the operation with this key. */
  take(key: string): UsageRecord | undefined
}

export function createSpending(): Spending {
  let used: UsageReport | undefined
  return {
    spend(usage) {
      used = usage
    },
    take(key) {
      if (used === undefined) return undefined
      const usage = parse(usageInput, used, 'usage')
      used = undefined
      return { type: 'usage', key: usageKeyOf(key), usage }
    },
  }
}

/** The key of what was used for the operation with this key. */
export function usageKeyOf(key: string): string {
  return `${key}/usage`
}
