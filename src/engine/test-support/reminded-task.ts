/** Tasks that wait for reminders, and what their logs say of them. For tests only. */

import type { LogRecord } from '../../core/records.ts'
import type { Json } from '../../core/values/json.ts'
import type { AgentTask, Turn } from '../author/agent-task.ts'
import type { ReminderRequest } from '../input/requests.ts'
import { alice, createHarness, dataOf, type Harness, running } from './engine-harness.ts'

export const ids = (turn: Turn): string[] => turn.reminders.map(({ id }) => id)
/** Without the reminder that says why a task was stopped. */
export const quiet: { readonly providers: { readonly resumed: false } } = {
  providers: { resumed: false },
}

export interface RemindedTask {
  readonly harness: Harness
  readonly id: string
  inject(id: string, some?: Partial<ReminderRequest>): ReturnType<Harness['engine']['remind']>
  /** What is pending: id and turns left. */
  pending(): Promise<readonly (readonly [string, number | undefined])[]>
  /** The artifact `seen`, once the task has ended. */
  resumed(): Promise<Json | undefined>
  /** What the log says of reminders. */
  told(): Promise<readonly string[]>
}

/** A task that is parked before it does anything. */
export async function parkedTask(run: (task: AgentTask) => Promise<Json>): Promise<RemindedTask> {
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        await task.park({ reason: 'x' })
        await task.artifact({ name: 'seen', data: await run(task) })
      }, quiet),
    ],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  return {
    harness,
    id,
    inject: (reminderId, some = {}) =>
      harness.engine.remind(alice, {
        taskId: id,
        reminder: { id: reminderId, body: 'b', ...some },
      }),
    pending: async () =>
      (await harness.engine.reminders(alice, id)).map((one) => [one.id, one.ttlTurns]),
    async resumed() {
      await harness.engine.resume(alice, { taskId: id })
      return dataOf(await harness.until(id, 'completed'), 'seen')
    },
    told: async () => toldBy(await harness.log(id)),
  }
}

export function toldBy(log: readonly LogRecord[]): readonly string[] {
  return log.flatMap((record) => {
    if (record.type === 'reminder-injected') return [`injected ${record.reminder.id}`]
    if (record.type === 'reminder-deduped') return [`deduped ${record.ids.join()} by ${record.by}`]
    if (record.type === 'reminder-expired') return [`expired ${record.ids.join()} ${record.reason}`]
    if (record.type !== 'turn-started' && record.type !== 'reminders-shown') return []
    return record.emitted.map((id) => `emitted ${id} ${record.turn}`)
  })
}

/** So many turns, and what each saw. */
export async function turns(task: AgentTask, count: number): Promise<string[][]> {
  const seen: string[][] = []
  for (let n = 0; n < count; n++) await task.turn((turn) => seen.push(ids(turn)))
  return seen
}
