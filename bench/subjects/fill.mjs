/**
 * Fills a data directory. In a process of its own, because on Node 20 a closed database keeps its locks until its statements
 * are collected, and no other process could open the directory until then.
 */
import { fill } from '../harness/fill.mjs'
import { lives } from '../harness/filled.mjs'
import { caller, openStore } from '../harness/lull.mjs'
import { serveSubject } from '../harness/subject.mjs'
import { elapsed } from '../harness/turns.mjs'

await serveSubject(async ({ path, kind, count }) => {
  const started = performance.now()
  const progress = (done) => {
    if (done % 100_000 !== 0) return
    const seconds = Math.round(elapsed(started) / 1_000)
    process.stderr.write(`bench: filled ${done / 1_000} k of ${count / 1_000} k, ${seconds} s\n`)
  }
  await fill({ path, count, life: await lives[kind](), at: Date.now(), progress })
  return { handlers: { ids: () => idsIn(path, count) } }
})

async function idsIn(path, count) {
  const store = await openStore(path)
  const ids = []
  let before
  while (ids.length < count) {
    const rows = await store.list({ ...caller, limit: 1_000, ...(before && { before }) })
    ids.push(...rows.map(({ id }) => id))
    before = rows.at(-1)
  }
  await store.close()
  return ids
}
