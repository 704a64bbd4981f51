/**
 * Searches tasks for a text, the latest change first.
 *
 *  Q1  A search reads at most `MOST` tasks, however many there are, and ends after the page with which it has read
 *      `MOST_BYTES`. `searched` says how many tasks were read, and `cursor` continues it.
 *  Q2  An answer has at most `limit` matches. If more follow, the search ends right after the last of them, so no match
 *      is lost between two answers.
 */
import { weightOf } from '../../core/values/weight.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ListRequest } from '../../engine/input/requests.ts'
import type { TaskList, TaskSummary } from '../../wire/ops/tasks.ts'
import { matchesSearch } from '../../wire/search.ts'
import { summaryOf } from './task-summary.ts'

const PAGE = 100
/** Tasks that one search reads. */
export const MOST = 1_000
/** About how many bytes of tasks one search reads. */
export const MOST_BYTES = 16_777_216

export async function searchTasks(
  engine: Pick<Engine, 'list'>,
  caller: Caller,
  text: string,
  { limit = 50, ...filter }: ListRequest,
  now: number,
): Promise<TaskList> {
  const read = async (request: ListRequest) => {
    const { tasks, cursor } = await engine.list(caller, request)
    const matches = tasks
      .map((task, index) => ({ task: summaryOf(task, now), index }))
      .filter(({ task }) => matchesSearch(task, text))
    return { matches, size: tasks.length, bytes: weightOf(tasks), cursor }
  }
  const found: TaskSummary[] = []
  let searched = 0
  let bytes = 0
  let cursor = filter.cursor
  do {
    const from = cursor === undefined ? {} : { cursor }
    const room = Math.max(1, limit - found.length)
    let page = await read({ ...filter, ...from, limit: PAGE })
    while (page.matches.length > room) {
      // Q2. A smaller page ends with the last match that is wanted, and its cursor as well.
      page = await read({ ...filter, ...from, limit: (page.matches[room - 1]?.index ?? 0) + 1 })
    }
    found.push(...page.matches.map(({ task }) => task))
    searched += page.size
    bytes += page.bytes
    cursor = page.cursor
    if (bytes >= MOST_BYTES) break
  } while (cursor !== undefined && found.length < limit && searched < MOST)
  return {
    tasks: found,
    total: found.length,
    counts: {},
    searched,
    ...(cursor === undefined ? {} : { cursor }),
  }
}
