/** Checks that acknowledged commands are in the logs: S2 and S9 of `checks.ts`. For tests only. */
import type { CheckDeps, Checks } from './checks.ts'

export interface CommandChecks
  extends Pick<Checks, 'sent' | 'paused' | 'resumed' | 'followedUp' | 'failedOver'> {
  end(): Promise<void>
}

/** A resume withdraws a pause that has not reached its boundary. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  'pause-requested': ['pause-requested'],
  resumed: ['resumed', 'pause-withdrawn'],
}

export function createCommandChecks({ log, fail }: CheckDeps): CommandChecks {
  const keys = new Map<string, string>()
  const handles: { readonly type: string; readonly taskId: string; readonly handle: string }[] = []
  const followUps: { readonly taskId: string; readonly messageId: string }[] = []

  return {
    sent(taskId, key) {
      if (key === undefined) return
      const known = keys.get(key) ?? taskId
      keys.set(key, known)
      if (known !== taskId) fail(`S9: ${key} means ${known} and ${taskId}`)
    },
    paused: (taskId, handle) => {
      handles.push({ type: 'pause-requested', taskId, handle })
    },
    resumed: (taskId, handle) => {
      handles.push({ type: 'resumed', taskId, handle })
    },
    followedUp: (taskId, messageId) => {
      followUps.push({ taskId, messageId })
    },
    failedOver() {
      keys.clear()
      handles.length = 0
      followUps.length = 0
    },
    async end() {
      for (const { type, taskId, handle } of handles) {
        const found = (await log(taskId)).filter(
          (record) =>
            typesOf[type]?.includes(record.type) && JSON.stringify(record).includes(`"${handle}"`),
        )
        const isThere = type === 'resumed' ? found.length === 1 : found.length > 0
        if (!isThere) fail(`S2: ${type} ${handle} of ${taskId} is there ${found.length} times`)
      }
      for (const { taskId, messageId } of followUps) {
        const told = (await log(taskId)).filter((record) =>
          JSON.stringify(record).includes(`"${messageId}"`),
        )
        if (told.length !== 1) fail(`S2: message ${messageId} is there ${told.length} times`)
      }
    },
  }
}
