/**
 * Ten times what the server can do. What it can do is measured first, by senders that wait for their tasks. Then messages are
 * sent at ten times that rate, whether or not earlier ones were answered, beside clients that read and write too slowly.
 * `npm run overload` does the same for a minute.
 *
 * Each task sleeps for a while in one of few slots. So the server can do a known number of tasks in a second, and a process
 * on the same machine can offer ten times as many.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openProbedServer, type ProbedServer } from './hostile/probed-server.ts'
import { ask, send, slowClients } from './overload/clients.ts'

const LONG_MS = Number(process.env['LULL_OVERLOAD_MS'] ?? 0)
const OVERLOAD_MS = LONG_MS || 2_000
const MEASURE_MS = LONG_MS ? 5_000 : 500
const SLOW = LONG_MS ? 150 : 48
const SLOTS = 4
const STEP_MS = 200
/** More than the slots can take in a second, because the limit is compared with totals that may be a second old. */
const OPEN_TASKS = LONG_MS ? 100 : 30
/** Far below what all requests and answers have together, and far above what the server needs without load. */
const MEMORY_BYTES = 900_000_000

let server: ProbedServer
beforeAll(async () => {
  server = await openProbedServer({ engine: { concurrency: SLOTS, openTasks: OPEN_TASKS } })
})
afterAll(() => server[Symbol.asyncDispose]())

const figures = { offered: 0, accepted: 0, refused: 0, broken: 0 }
const health = { ok: 0, other: 0, peakBytes: 0 }
const limits = new Set<string>()
const script = (...ops: readonly object[]): string => JSON.stringify({ script: ops })
const work = script({ say: 'x' }, { step: 's', ms: STEP_MS })

/** Tasks in a second, by senders that wait for each task. There are more of them than slots. */
async function capacity(): Promise<number> {
  const begin = performance.now()
  let done = 0
  const sender = async (): Promise<void> => {
    while (performance.now() - begin < MEASURE_MS) {
      expect((await send(server.url, work, false)).outcome).toBe('accepted')
      done++
    }
  }
  await Promise.all(Array.from({ length: SLOTS * 4 }, sender))
  return done / ((performance.now() - begin) / 1_000)
}

async function offer(): Promise<void> {
  // Every eighth message has 100 kB.
  const text = figures.offered++ % 8 === 0 ? work + ' '.repeat(100_000) : work
  const { outcome, limit } = await send(server.url, text, true)
  figures[outcome]++
  if (limit !== undefined) limits.add(limit)
}

/** As many messages as are due by now, without waiting for the answers. @returns messages in a second */
async function offerAt(rate: number): Promise<number> {
  const begin = performance.now()
  const answers: Promise<void>[] = []
  let elapsed = 0
  while (elapsed < OVERLOAD_MS) {
    await pause(2)
    elapsed = performance.now() - begin
    while (figures.offered < (rate * elapsed) / 1_000) answers.push(offer())
  }
  await Promise.all(answers)
  return figures.offered / (elapsed / 1_000)
}

async function watch(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const path of ['/healthz', '/readyz']) {
      const { status } = await ask(server.url + path)
      health[status === 200 ? 'ok' : 'other']++
    }
    health.peakBytes = Math.max(health.peakBytes, await server.memory())
  }
}

async function counts(): Promise<Readonly<Record<string, number>>> {
  const { text } = await ask(`${server.url}/ops/tasks?limit=1`)
  return (JSON.parse(text) as { counts: Record<string, number> }).counts
}

it(
  'ten times what the server can do: memory is bounded, and everything it took is finished',
  async () => {
    const large = script({ park: { reason: 'x' } }) + ' '.repeat(5_000_000)
    const { taskId = '' } = await send(server.url, large, true)
    const rate = await capacity()
    const before = (await counts())['completed'] ?? 0
    const slow = slowClients(server.port, taskId, SLOW)
    let over = false
    const watching = watch(() => over)
    const offered = await offerAt(rate * 10)
    over = true
    await watching
    for (const socket of slow) socket.destroy()

    // Only the task that was parked at first is left.
    await expect
      .poll(async () => Object.keys(await counts()).sort(), { timeout: 120_000, interval: 100 })
      .toEqual(['completed', 'paused-by-agent'])
    const finished = ((await counts())['completed'] ?? 0) - before
    const shown = { canDo: rate, offeredPerSecond: offered, ...figures, finished, ...health }
    if (LONG_MS) console.log(shown, [...limits])
    expect(offered).toBeGreaterThanOrEqual(rate * 9.9)
    expect(figures.accepted).toBeGreaterThan(0)
    expect(figures.refused).toBeGreaterThan(0)
    // A message whose connection broke may have been accepted.
    expect(finished).toBeGreaterThanOrEqual(figures.accepted)
    expect(finished).toBeLessThanOrEqual(figures.accepted + figures.broken)
    expect(health.other).toBe(0)
    expect(health.ok).toBeGreaterThan(0)
    expect(health.peakBytes).toBeLessThan(MEMORY_BYTES)
  },
  OVERLOAD_MS + 240_000,
)
