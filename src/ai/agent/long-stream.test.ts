/** A model that streams 100,000 tokens. Memory is bounded by what is counted here: records, commits, chunks and their text. */
import { MockLanguageModelV3 } from 'ai/test'
import { beforeAll, expect, it } from 'vitest'
import { noTextShown, recordedChunk } from '../../core/messages/live-text.ts'
import {
  alice,
  createHarness,
  type Harness,
  signal,
} from '../../engine/test-support/engine-harness.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { aiAgent } from './ai-agent.ts'

const TOKENS = 100_000
const WORD = 'word '
/** As fast as the fastest provider, times ten. */
const TOKENS_PER_MS = 10
const FRAME_MS = 100

let long: Awaited<ReturnType<typeof streamed>>
beforeAll(async () => {
  long = await streamed(TOKENS)
})

it('a stream of 100,000 tokens makes as many records and commits as one of a single token', async () => {
  const short = await streamed(1)
  expect(long.records).toEqual(short.records)
  expect(long.commits).toBe(short.commits)
  // The text is in the artifact, in the answer and in the transcript, and no token is stored by itself.
  expect(long.bytes).toBeLessThan(20_000 + 4 * WORD.length * TOKENS)
})

it('a reader of 100,000 tokens gets ten chunks a second, and each character once', () => {
  const { quick } = long
  expect(quick.text).toBe(WORD.repeat(TOKENS))
  expect(quick.sizes.length).toBeLessThanOrEqual(TOKENS / TOKENS_PER_MS / FRAME_MS + 2)
  expect(quick.sizes.length).toBeGreaterThan(10)
  expect(sum(quick.sizes)).toBe(WORD.length * TOKENS)
})

it('nothing is queued for a reader that reads nothing until the end', () => {
  expect(long.slow).toEqual({ text: WORD.repeat(TOKENS), sizes: [WORD.length * TOKENS] })
})

interface Read {
  readonly text: string
  /** The length of each chunk. */
  readonly sizes: readonly number[]
}

async function streamed(tokens: number) {
  const clock = createManualClock()
  const memory = createMemoryStore()
  let commits = 0
  const store = {
    ...memory,
    commit(...given: Parameters<typeof memory.commit>) {
      commits++
      return memory.commit(...given)
    },
  }
  const ready = signal()
  const model = talker(tokens, ready.promise, (ms) => clock.advance(ms))
  const agents = [aiAgent({ name: 'talker', description: 'talks', model })]
  const harness = await createHarness({ agents, clock, store })
  const { id } = await harness.send('talk')
  const [quickReader, slowReader] = [await follow(harness, id), await follow(harness, id)]
  const reading = read(quickReader)
  ready.fire()
  const task = await harness.ended(id)
  expect(task.state).toBe('completed')
  expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: WORD.repeat(tokens) }]])
  await harness.settled()
  const log = await harness.log(id)
  return {
    records: log.map(({ type }) => type),
    bytes: JSON.stringify(log).length,
    commits,
    quick: await reading,
    slow: await read(slowReader),
  }
}

type Reader = Awaited<ReturnType<Harness['engine']['follow']>>

const follow = (harness: Harness, id: string): Promise<Reader> =>
  harness.engine.follow(alice, id, { shown: noTextShown })

/** Folds the chunks until the task has ended. */
async function read(reader: Reader): Promise<Read> {
  const sizes: number[] = []
  let text = ''
  for (;;) {
    const update = await reader.next()
    if (update === undefined) return { text, sizes }
    const chunks =
      'chunks' in update
        ? update.chunks
        : update.records.flatMap((record) => recordedChunk(reader.shown, record) ?? [])
    for (const { artifact, append } of chunks) {
      const [part] = artifact.parts
      const piece = part !== undefined && 'text' in part ? part.text : ''
      sizes.push(piece.length)
      text = append ? text + piece : piece
    }
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** Makes a token when it is read, as a provider does. Time passes, and others have their turn. */
function talker(tokens: number, ready: Promise<void>, pass: (ms: number) => void) {
  const finish = {
    type: 'finish' as const,
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: tokens, text: tokens, reasoning: 0 },
    },
  }
  async function rest(sent: number): Promise<void> {
    if (sent === 0) await ready
    if (sent % (FRAME_MS * TOKENS_PER_MS) !== 0) return
    pass(FRAME_MS)
    await new Promise((done) => setImmediate(done))
  }
  return new MockLanguageModelV3({
    doStream: async () => {
      let sent = 0
      return {
        stream: new ReadableStream({
          async pull(controller) {
            await rest(sent)
            if (sent++ < tokens) {
              controller.enqueue({ type: 'text-delta', id: '1', delta: WORD })
              return
            }
            controller.enqueue(finish)
            controller.close()
          },
        }),
      }
    },
  })
}
