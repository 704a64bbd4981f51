/**
 * Blocking send with an SDK of OpenTelemetry registered, which makes spans and sends none, against the same server without
 * an SDK. With `LULL_BENCH_BEFORE`, a `dist` of another version, also the server without an SDK against that one.
 */
import { compare } from '../harness/compare.mjs'
import { ours, startAll } from '../harness/http.mjs'
import { inScratch } from '../harness/places.mjs'

const sdk = new URL('../harness/sdk.mjs', import.meta.url).href
const how = { kind: 'send', wanted: 'TASK_STATE_COMPLETED', connections: 32 }

export function run({ quick }) {
  return inScratch((path) => inScratch((other) => measured(path, other, quick)))
}

async function measured(path, other, quick) {
  const before = process.env.LULL_BENCH_BEFORE
  const { client, servers, close } = await startAll(
    before === undefined
      ? { ours: ours(path, { execArgv: ['--import', sdk] }), plain: ours(other) }
      : { ours: ours(path), before: ours(other, { env: { LULL_BENCH_DIST: before } }) },
  )
  const line = await compare({ client, servers }, () => how, quick)
  await close()
  return before === undefined
    ? [line('plain', { what: 'blocking send, with spans', bar: 0.9, goal: 0.95 })]
    : [line('before', { what: 'blocking send, without an SDK', bar: 0.97, goal: 1 })]
}
