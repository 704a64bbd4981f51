/**
 * What it costs to journal and share the stream of a model: an `aiAgent` whose text one reader follows, against
 * `streamText` alone with the same model. The model needs 100 ms for its first token and then makes 50,000 a second, which
 * is hundreds of times faster than any provider.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { streamText } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { caller, load, message, openEngine, system } from '../harness/lull.mjs'
import { inScratch } from '../harness/places.mjs'
import { median } from '../harness/statistics.mjs'
import { elapsed, ratio, takeTurns } from '../harness/turns.mjs'

const FIRST_MS = 100
const PAUSE_MS = 5
const BURST = 250

export async function run({ quick }) {
  const turns = quick ? 3 : 7
  const tokens = quick ? 10_000 : 100_000
  return inScratch(async (path) => {
    const { aiAgent } = await load('ai/index.js')
    const talker = aiAgent({ name: 'talker', description: 'talks', model: modelOf(tokens) })
    const { engine, close } = await openEngine({ path, agents: [talker] })
    const { ids } = await system()

    /** Until a reader has the first text, and until the task has ended. */
    async function ours() {
      const started = performance.now()
      const { task } = await engine.send(caller, { message: message(ids) })
      const reader = await engine.follow(caller, task.id, { shown: [] })
      let first
      for (;;) {
        const update = await reader.next()
        if (update === undefined) return { first, whole: elapsed(started) }
        if ('chunks' in update) first ??= elapsed(started)
      }
    }
    async function bare() {
      const started = performance.now()
      let first
      for await (const _ of streamText({ model: modelOf(tokens), prompt: 'talk' }).textStream) {
        first ??= elapsed(started)
      }
      return { first, whole: elapsed(started) }
    }
    await ours()
    await bare()
    const seen = await takeTurns(turns, { ours, bare })
    await close()
    return [
      line('model stream: first token seen by a reader', 'first', 2, seen),
      line(`model stream of ${tokens.toLocaleString('en')} tokens`, 'whole', 1.1, seen),
    ]
  })
}

function line(what, name, bar, seen) {
  const [ours, bare] = [seen.ours, seen.bare].map((times) => times.map((one) => one[name]))
  return {
    what,
    ours: { value: median(ours), unit: 'ms' },
    against: { what: 'streamText alone', value: median(bare), unit: 'ms' },
    score: { value: ratio(ours, bare), unit: 'x' },
    better: 'less',
    bar,
  }
}

function modelOf(tokens) {
  return new MockLanguageModelV3({
    doStream: async () => {
      let sent = 0
      return {
        stream: new ReadableStream({
          async pull(controller) {
            if (sent % BURST === 0) await sleep(sent === 0 ? FIRST_MS : PAUSE_MS)
            if (sent++ < tokens) {
              if (sent === 1) controller.enqueue({ type: 'text-start', id: '1' })
              controller.enqueue({ type: 'text-delta', id: '1', delta: 'word ' })
              return
            }
            controller.enqueue({ type: 'text-end', id: '1' })
            controller.enqueue(finish)
            controller.close()
          },
        }),
      }
    },
  })
}

const finish = {
  type: 'finish',
  finishReason: { unified: 'stop' },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
}
