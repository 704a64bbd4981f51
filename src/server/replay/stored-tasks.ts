/** The tasks of a store that no server has to serve: a data directory, or a database. Nothing is started or written. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import { states } from '../../core/states.ts'
import type { Caller } from '../../engine/caller.ts'
import { createEngine } from '../../engine/engine.ts'
import type { RecordedTask } from '../../engine/replay/recorded-task.ts'
import { openStore } from '../open-store.ts'
import { type GivenSettings, readSettings } from '../settings.ts'
import { chooseStore } from '../store-choice.ts'
import { systemClock } from '../system/clock.ts'
import { createIds } from '../system/ids.ts'
import { systemMemory } from '../system/memory.ts'
import { signerFor } from '../system/signer.ts'

/** Where recorded tasks are read from. */
export interface TaskSource {
  /** @throws LullError `TASK_NOT_FOUND` */
  recorded(taskId: string): Promise<RecordedTask>
  /** Ids of the tasks in those states, the latest change first. Default: of all tasks. */
  ids(wanted?: readonly string[]): AsyncIterable<string>
}

const reader: Caller = { tenant: '*', principal: 'replay', operator: true }
const PAGE = 100

/** @throws LullError `STORE_LOCKED` while a server has the data directory, `STORE_UNAVAILABLE` */
export async function withStoredTasks<T>(
  given: GivenSettings,
  work: (tasks: TaskSource) => Promise<T>,
): Promise<T> {
  const settings = readSettings(given)
  const { data, stores } = settings
  const choice = chooseStore(stores, data)
  // Opening a directory would make a store in it.
  if (choice.kind === 'sqlite' && !existsSync(join(data, 'lull.db'))) {
    const why = `there is no lull.db in ${data}; give the data directory that keeps the tasks`
    throw new LullError('STORE_UNAVAILABLE', { why })
  }
  const store = await openStore(choice, () => undefined)
  try {
    const engine = createEngine({
      store,
      agents: [],
      clock: systemClock,
      ids: createIds(),
      signer: await signerFor({ data, store }, settings),
      log: () => undefined,
      memory: systemMemory,
    })
    return await work({
      recorded: (taskId) => engine.recorded(reader, taskId),
      async *ids(wanted) {
        const filter =
          wanted === undefined ? {} : { states: states.filter((one) => wanted.includes(one)) }
        let cursor: string | undefined
        do {
          const page = await engine.list(reader, {
            ...filter,
            limit: PAGE,
            ...(cursor === undefined ? {} : { cursor }),
          })
          for (const { id } of page.tasks) yield id
          cursor = page.cursor
        } while (cursor !== undefined)
      },
    })
  } finally {
    await store.close()
  }
}
