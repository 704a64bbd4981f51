/**
 * U1 and U2 (unclaimed.ts) for pairs of code versions: steps added, removed, reordered and renamed, before and behind the
 * stop, in sequence, in parallel branches and inside steps. What must come of each is computed by `expected`, which follows
 * the rule on paper: it knows nothing of runs, gates and promises.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createDelayingStore } from '../../test-support/delaying-store.ts'
import { alice, createHarness, type Harness } from '../../test-support/engine-harness.ts'
import {
  agentOf,
  type Code,
  codeOf,
  edit,
  edited,
  type Item,
  pathsOf,
  shape,
  stop,
} from '../test-support/code-versions.ts'

// ── The rule on paper ───────────────────────────────────────────────────────────────────────────────────────────────

interface Thread {
  readonly items: Code
  readonly outer: string
  readonly onEnd: (place: number) => void
}

interface New {
  readonly path: string
  readonly place: number
  readonly run: () => void
}

/** Which steps of the new code run before the task is done or stopped, and at which it stops for which recorded ones. */
function expected(code: Code, { recorded, begun }: History, { accepted, unmissed }: Accepted) {
  const asked = new Set<string>()
  const ran: string[] = []
  let news: New[] = []
  let results: { readonly seq: number; readonly go: () => void }[] = []

  function proceed({ items, outer, onEnd }: Thread, place: number): void {
    const [item, ...rest] = items
    const thread = { items: rest, outer, onEnd }
    if (item === undefined) onEnd(place)
    else if (item.kind === 'parallel') {
      let open = item.branches.length
      const joined = (where: number): void => {
        if (--open === 0) proceed(thread, where)
      }
      for (const branch of item.branches) proceed({ items: branch, outer, onEnd: joined }, place)
    } else one(item, thread, place)
  }

  function one(item: Exclude<Item, { kind: 'parallel' }>, thread: Thread, place: number): void {
    const path = item.kind === 'park' ? 'park' : `${thread.outer}${item.name}`
    asked.add(path)
    const seq = recorded.get(path)
    if (seq !== undefined) {
      const after = accepted.has(path) ? place : seq
      results.push({ seq, go: () => proceed(thread, after) })
      return
    }
    /** What runs is recorded behind everything else, and handed out when it is. */
    const goOn = (): void => {
      results.push({ seq: 1_000_000 + asked.size, go: () => proceed(thread, place) })
    }
    const run = (): void => {
      if (item.kind === 'outer') {
        proceed({ items: item.inner, outer: `${path}/`, onEnd: goOn }, place)
      } else {
        ran.push(path)
        goOn()
      }
    }
    const hadBegun = [...recorded.keys()].some((key) => key.startsWith(`${path}/`))
    if (hadBegun || begun.has(path) || accepted.has(path)) run()
    else news.push({ path, place, run })
  }

  const missing = ({ path, place }: New): readonly string[] =>
    [...recorded]
      .filter(([other, seq]) => {
        const outer = other.slice(0, other.indexOf('/') + 1)
        const isInAsked = asked.has(outer.slice(0, -1)) && !path.startsWith(outer)
        return !asked.has(other) && !unmissed.has(other) && !isInAsked && seq > place
      })
      .toSorted(([, a], [, b]) => a - b)
      .map(([other]) => other)

  proceed({ items: code, outer: '', onEnd: () => undefined }, 0)
  for (;;) {
    const [first] = results.toSorted((a, b) => a.seq - b.seq)
    const next = news.find((one) => missing(one).length === 0)
    if (first !== undefined) {
      results = results.filter((other) => other !== first)
      first.go()
    } else if (next !== undefined) {
      news = news.filter((other) => other !== next)
      next.run()
    } else return { ran, stoppedAt: news.map((one) => [one.path, missing(one)[0] ?? '']) }
  }
}

/** What operators have accepted so far. */
interface Accepted {
  readonly accepted: ReadonlySet<string>
  readonly unmissed: ReadonlySet<string>
}

interface History {
  readonly recorded: ReadonlyMap<string, number>
  /** Steps with a recorded attempt. */
  readonly begun: ReadonlySet<string>
}

function historyOf(log: readonly LogRecord[]): History {
  const recorded = new Map<string, number>()
  const begun = new Set<string>()
  let parks = false
  for (const record of log) {
    if (record.type === 'step') recorded.set(pathOf(record.key), record.seq)
    if (record.type === 'attempt') begun.add(pathOf(record.key))
    if (record.type === 'parked') parks = true
    // It is resumed next, which finishes it.
    if (record.type === 'parked') recorded.set('park', record.seq + 1)
    if (parks && record.type === 'resumed') {
      recorded.set('park', record.seq)
      parks = false
    }
  }
  // A finished step does not run what is inside it again.
  for (const path of recorded.keys()) {
    if (path.includes('/') && recorded.has(path.slice(0, path.indexOf('/')))) recorded.delete(path)
  }
  return { recorded, begun }
}

const pathOf = (key: string): string => key.replaceAll(/step:|:?#1/g, '')

/** The store answers at once, or late and out of order. */
const delays = fc.option(fc.record({ seed: fc.integer(), turns: fc.constant(5) }), {
  nil: undefined,
})

describe('a task that goes on with another version of its code', () => {
  it('U1, U2: comes to what the rule says, and repeats no recorded step', async () => {
    const property = fc.asyncProperty(
      fc.array(shape, { minLength: 1, maxLength: 4 }),
      fc.array(edit, { maxLength: 3 }),
      stop,
      delays,
      async (shapes, edits, where, delay) => {
        const before = codeOf(shapes, where.parkAt)
        const after = edits.reduce(edited, before)
        const hangs = new Set(where.hangs.map((number) => `s${number}`))
        const first: string[] = []
        const inner = createMemoryStore()
        const store = delay === undefined ? inner : createDelayingStore(inner, delay)
        const old = await createHarness({ agents: [agentOf(before, hangs, first)], store })
        const { id } = await old.send('go')
        await old.settled()
        // Only a task that stopped can go on.
        fc.pre((await old.get(id)).state !== 'completed')
        const history = historyOf(await old.log(id))
        const ran: string[] = []
        const harness = await old.recover({ agents: [agentOf(after, new Set(), ran)] })
        if ((await harness.get(id)).suspension !== undefined) {
          await harness.engine.resume(alice, { taskId: id })
        }
        const stops = await check(harness, id, after, history, ran)
        // What the rule is for, without the rule.
        if (edits.length === 0) expect(stops).toEqual([])
        const gone = pathsOf(before).find((path) => !pathsOf(after).includes(path))
        const wasRecorded = gone !== undefined && history.recorded.has(gone)
        const isRename = edits.length === 1 && edits[0]?.what === 'rename'
        if (isRename && wasRecorded) expect(stops.join()).toMatch(/renamed0/)
        for (const path of ran) {
          expect(ran.filter((other) => other === path)).toHaveLength(1)
          expect(first).not.toContain(path)
        }
      },
    )
    await fc.assert(property, { numRuns: 100, seed: 12 })
  })
})

/** Compares each stretch up to the next stop, accepts what it stopped at, and goes on to the end. Gives the stops. */
async function check(
  harness: Harness,
  id: string,
  code: Code,
  before: History,
  ran: readonly string[],
): Promise<readonly string[]> {
  const accepted = new Set<string>()
  /** Operators have seen that these are not asked for. */
  const unmissed = new Set<string>()
  let history = before
  for (let from = 0; ; from = ran.length) {
    for (let seconds = 0; seconds < 4; seconds++) await harness.pass(1_000)
    const { state, suspension } = await harness.get(id)
    const wanted = expected(code, history, { accepted, unmissed })
    expect(ran.slice(from).toSorted()).toEqual(wanted.ran.toSorted())
    expect(state).toBe(wanted.stoppedAt.length === 0 ? 'completed' : 'paused-by-client')
    if (state === 'completed') return [...accepted]
    expect(suspension?.reason).toBe('code-changed')
    const stopped = suspension?.newOperations?.map(({ key, unclaimed }) =>
      [key, unclaimed].map(pathOf),
    )
    expect(stopped?.toSorted()).toEqual(wanted.stoppedAt.toSorted())
    for (const [path = ''] of wanted.stoppedAt) accepted.add(path)
    history = historyOf(await harness.log(id))
    for (const [, unclaimed = ''] of wanted.stoppedAt) unmissed.add(unclaimed)
    await harness.engine.resume(alice, { taskId: id })
  }
}
