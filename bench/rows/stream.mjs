/** Streaming send: from the request to the frame that says completed, 8 clients. */
import { compare } from '../harness/compare.mjs'
import { a2aJs, ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'

const what = 'streaming send, request to final frame, p50 at 8 clients'
const how = { kind: 'stream', wanted: 'TASK_STATE_COMPLETED', connections: 8 }

export function run({ quick }) {
  return inScratch(async (path) => {
    const all = await startAll({ ours: ours(path), memory: a2aJs() })
    const line = await compare(all, () => how, quick)
    await all.close()
    return [line('memory', { what, measure: 'p50', bar: 0.4, goal: 0.2 })]
  })
}
