/** Tasks that wait for reminders, and what their logs say of them. For tests only. */
import type { Json } from '../../core/json.ts'
import type { LogRecord } from '../../core/records.ts'
import type { AgentTask, Turn } from '../agent-task.ts'
import type { ReminderRequest } from '../requests.ts'
import { alice, createWorld, dataOf, running, type World } from './world.ts'

export const ids = (turn: Turn): string[] => turn.reminders.map(({ id }) => id)
/** Without the reminder that says why a task was stopped. */
export const quiet: { readonly providers: { readonly resumed: false } } = {
  providers: { resumed: false },
}

export interface Scene {
  readonly world: World
  readonly id: string
  inject(id: string, some?: Partial<ReminderRequest>): ReturnType<World['engine']['remind']>
  /** What is pending: id and turns left. */
  pending(): Promise<readonly (readonly [string, number | undefined])[]>
  /** The artifact `seen`, once the task has ended. */
  resumed(): Promise<Json | undefined>
  /** What the log says of reminders. */
  told(): Promise<readonly string[]>
}

/** A task that is parked before it does anything. */
export async function parked(run: (task: AgentTask) => Promise<Json>): Promise<Scene> {
  const world = await createWorld({
    agents: [
      running(async (task) => {
        await task.park({ reason: 'x' })
        await task.artifact({ name: 'seen', data: await run(task) })
      }, quiet),
    ],
  })
  const { id } = await world.send('go')
  await world.until(id, 'paused-by-agent')
  return {
    world,
    id,
    inject: (reminderId, some = {}) =>
      world.engine.remind(alice, { taskId: id, reminder: { id: reminderId, body: 'b', ...some } }),
    pending: async () =>
      (await world.engine.reminders(alice, id)).map((one) => [one.id, one.ttlTurns]),
    async resumed() {
      await world.engine.resume(alice, { taskId: id })
      return dataOf(await world.until(id, 'completed'), 'seen')
    },
    told: async () => toldBy(await world.log(id)),
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
