/**
 * Searches tasks for a text, the latest change first.
 *
 *  Q1  A search reads at most `MOST` tasks, however many there are. `cursor` continues it.
 *  Q2  It ends with the page in which the limit was reached, so no match is lost between two answers.
 */
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ListRequest } from '../../engine/requests.ts'
import type { TaskList, TaskSummary } from '../../wire/ops.ts'
import { matchesSearch } from '../../wire/search.ts'
import { summaryOf } from './task-summary.ts'

const PAGE = 100
/** Tasks that one search reads. */
export const MOST = 1_000

export async function searchTasks(
  engine: Pick<Engine, 'list'>,
  caller: Caller,
  text: string,
  { limit = 50, ...filter }: ListRequest,
  now: number,
): Promise<TaskList> {
  const found: TaskSummary[] = []
  let searched = 0
  let cursor = filter.cursor
  do {
    const from = cursor === undefined ? {} : { cursor }
    const page = await engine.list(caller, { ...filter, ...from, limit: PAGE })
    searched += page.tasks.length
    cursor = page.cursor
    const tasks = page.tasks.map((task) => summaryOf(task, now))
    found.push(...tasks.filter((task) => matchesSearch(task, text)))
  } while (cursor !== undefined && found.length < limit && searched < MOST)
  return {
    tasks: found,
    total: found.length,
    counts: {},
    searched,
    ...(cursor === undefined ? {} : { cursor }),
  }
}
