/** The newest 10 of 100,000 tasks of one principal, with their total, one request at a time. */
import { compare } from '../harness/compare.mjs'
import { filledDirectory } from '../harness/filled.mjs'
import { a2aJs, ours, startAll } from '../harness/http.mjs'

const TASKS = 100_000
const what = `list 10 of ${TASKS.toLocaleString('en')} tasks`
const how = { kind: 'list', wanted: `"totalSize":${TASKS}`, connections: 1 }

export async function run({ quick }) {
  const path = await filledDirectory('completed', TASKS)
  const all = await startAll({ ours: ours(path), memory: a2aJs() })
  await all.servers.memory.ask('fill', { count: TASKS })
  const times = { warmMs: 3_000, turns: 7, turnMs: 2_000 }
  const line = await compare(all, () => how, quick, times)
  await all.close()
  return [line('memory', { what, bar: 20, goal: 100 })]
}
