/** Everything of ours in what an editor received, held against the schemas we publish. For tests only. */
import { acpSchemas } from '../catalog.ts'
import type { Loose } from './editor.ts'

const notifications: Readonly<Record<string, string>> = {
  '_session/suspended': 'SessionSuspendedNotification',
  '_session/resumed': 'SessionResumedNotification',
  '_session/reminder': 'SessionReminderNotification',
  '_session/turn_ended': 'SessionTurnEndedNotification',
  '_session/await_resumption': 'SessionAwaitResumptionRequest',
  'session/await_resumption': 'SessionAwaitResumptionRequest',
}

const updates: Readonly<Record<string, string>> = {
  suspended: 'SessionUpdateSuspended',
  resumed: 'SessionUpdateResumed',
}

/** The names of the schemas that were met. @throws where something does not fit */
export function checkExtension(received: readonly Loose[]): ReadonlySet<string> {
  const met = new Set<string>()
  const check = (name: string, value: unknown): void => {
    met.add(name)
    acpSchemas[name]?.parse(value)
  }
  for (const { method, params, result, error } of received) {
    const name = notifications[method]
    if (name !== undefined) check(name, params)
    const update = params?.update
    const literal = updates[update?.sessionUpdate]
    if (literal !== undefined) check(literal, update)
    for (const meta of [update?._meta, params?._meta, result?._meta]) {
      if (meta?.lull?.tasks !== undefined) check('SessionMeta', meta.lull)
      else if (meta?.lull?.state !== undefined) check('TaskMeta', meta.lull)
      if (meta?.harn?.suspend !== undefined) check('WorkerSuspensionMeta', meta.harn.suspend)
    }
    if (error?.data !== undefined) check('ErrorData', error.data)
  }
  return met
}
