/**
 * Random agents. An agent is a tree of operations; every operation knows its place in the tree, and a step returns that
 * place. So an answer from the journal that reached the wrong branch is seen at once. For tests only.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTask, StepContext, Turn } from '../author/agent-task.ts'
import { running } from './engine-harness.ts'

export type Op =
  | { readonly op: 'step'; readonly name: string; readonly inner: readonly Op[] }
  | { readonly op: 'flaky'; readonly name: string; readonly failures: number }
  | { readonly op: 'throws'; readonly name: string }
  | { readonly op: 'value'; readonly kind: 'now' | 'uuid' | 'random' }
  | { readonly op: 'say' }
  | { readonly op: 'artifact' }
  | { readonly op: 'wake' }
  | { readonly op: 'park' }
  | { readonly op: 'ask' }
  | { readonly op: 'turn'; readonly ops: readonly Op[] }
  | { readonly op: 'tools'; readonly names: readonly string[] }
  | { readonly op: 'parallel'; readonly branches: readonly (readonly Op[])[] }

/** Few names, so that branches compete for the same keys. */
const name = fc.constantFrom('a', 'b')
type Tree = readonly Op[]

const leaf: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: name.map((n): Op => ({ op: 'step', name: n, inner: [] })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, fc.integer({ min: 1, max: 2 }))
      .map(([n, failures]): Op => ({ op: 'flaky', name: n, failures })),
  },
  name.map((n): Op => ({ op: 'throws', name: n })),
  fc
    .constantFrom('now' as const, 'uuid' as const, 'random' as const)
    .map((kind): Op => ({ op: 'value', kind })),
  fc.constantFrom<Op>({ op: 'say' }, { op: 'artifact' }, { op: 'wake' }),
)
const stop: fc.Arbitrary<Op> = fc.constantFrom<Op>({ op: 'park' }, { op: 'ask' })
const tools: fc.Arbitrary<Op> = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((names): Op => ({ op: 'tools', names }))
/** A step that was interrupted runs again and may well see the new wake. */
const inner = leaf.filter(({ op }) => op !== 'wake')
const nested: fc.Arbitrary<Op> = fc
  .tuple(name, fc.array(inner, { minLength: 1, maxLength: 2 }))
  .map(([n, ops]): Op => ({ op: 'step', name: n, inner: ops }))

const some = (op: fc.Arbitrary<Op>, most = 3): fc.Arbitrary<Tree> =>
  fc.array(op, { minLength: 1, maxLength: most })
const turn = (op: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  some(op).map((ops): Op => ({ op: 'turn', ops }))
const parallel = (op: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc
    .array(some(op), { minLength: 2, maxLength: 3 })
    .map((branches): Op => ({ op: 'parallel', branches }))

const inTurn = fc.oneof(leaf, stop, tools, nested, parallel(fc.oneof(leaf, tools)))
const inBranch = fc.oneof({ weight: 3, arbitrary: leaf }, nested, stop, turn(inTurn))

/** What a random agent does, top level. */
export const randomOperations: fc.Arbitrary<Tree> = some(
  fc.oneof(leaf, stop, nested, turn(inTurn), { weight: 2, arbitrary: parallel(inBranch) }),
  4,
)

/** What one run of a random agent saw and did, by place. */
export interface Trace {
  /** What each operation gave, as the run saw it. */
  readonly seen: Map<string, Json>
  /** How often each function began, with the attempt it was told. */
  readonly begun: Map<string, number[]>
  /** Idempotency keys, by place. */
  readonly keys: Map<string, Set<string>>
}

export function trace(): Trace {
  return { seen: new Map(), begun: new Map(), keys: new Map() }
}

export interface RandomAgent {
  readonly agent: Agent
  /** The trace of the run that began last. */
  readonly last: () => Trace
  /** What all runs did together. */
  readonly all: Trace
  /** Places that began while they must not. */
  readonly late: readonly string[]
}

/**
 * @param delay how many loop turns an operation of that place takes: differs from run to run
 * @param mayBegin asked whenever a step begins
 */
export function randomAgent(
  ops: Tree,
  delay: (place: string, run: number) => number,
  mayBegin: () => boolean = () => true,
): RandomAgent {
  let runs = 0
  let current = trace()
  const all = trace()
  const late: string[] = []
  const agent = running(async (task) => {
    const run = ++runs
    const mine = trace()
    current = mine
    const idle = async (place: string): Promise<void> => {
      for (let turns = delay(place, run); turns > 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const began = (place: string): void => {
      if (!mayBegin()) late.push(place)
    }
    await perform({ task, all, mine, idle, began, stops: createMutex() }, ops, '', undefined)
    // What happens inside a step is not seen again once the step is recorded.
    const places = [...mine.seen.keys()].filter((place) => !place.includes('>'))
    await task.artifact({ name: 'end', data: places.sort() })
  })
  return { agent, last: () => current, all, late }
}

interface Frame {
  readonly task: AgentTask
  readonly all: Trace
  readonly mine: Trace
  readonly idle: (place: string) => Promise<void>
  readonly began: (place: string) => void
  /** Stops of branches that run side by side, one after the other. */
  readonly stops: Mutex
}

type Mutex = <T>(work: () => Promise<T>) => Promise<T>

function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

async function perform(frame: Frame, ops: Tree, at: string, turn: Turn | undefined): Promise<void> {
  for (const [index, op] of ops.entries()) await one(frame, op, `${at}/${index}`, turn)
}

async function one(frame: Frame, op: Op, place: string, turn: Turn | undefined): Promise<void> {
  const { task, mine } = frame
  const saw = (value: Json): void => {
    mine.seen.set(place, value)
  }
  /** The body of a step: counted, takes a while, gives its place. */
  const body =
    (where: string, inner: Tree = [], failures = 0) =>
    async (context: StepContext): Promise<string> => {
      frame.began(where)
      begin(frame.all, where, context)
      begin(mine, where, context)
      await frame.idle(where)
      context.signal.throwIfAborted()
      if (inner.length > 0) await perform(frame, inner, `${where}>`, undefined)
      if (context.attempt <= failures) throw new Error(`${where} fails`)
      return where
    }
  switch (op.op) {
    case 'step':
      return saw(await task.step(op.name, body(place, op.inner)))
    case 'flaky': {
      const retry = { attempts: 5, backoffMs: 0 }
      return saw(await task.step(op.name, body(place, [], op.failures), { retry }))
    }
    case 'throws': {
      const failed = task.step(op.name, async (context) => {
        await body(place)(context)
        throw new RangeError(place)
      })
      return saw(await failed.catch((error: Error) => `${error.name}: ${error.message}`))
    }
    case 'value':
      return saw(await kept(task, place, task[op.kind]()))
    case 'say':
      await task.say(place)
      return saw(null)
    case 'artifact':
      return saw((await task.artifact({ name: place, text: place })).artifactId)
    case 'wake':
      return saw(await kept(task, place, task.wake?.epoch ?? 0))
    case 'park': {
      let reason = ''
      const { input } = await frame.stops(() => {
        reason = `${place} after wake ${task.wake?.epoch ?? 0}`
        return task.park({ reason })
      })
      const { to } = input as { to: string }
      if (to !== reason) throw new Error(`${reason} was given what was for ${to}`)
      return saw(null)
    }
    case 'ask':
      return saw((await frame.stops(() => task.ask(place))).text)
    case 'turn':
      await task.turn((opened) => perform(frame, op.ops, place, opened))
      return saw(null)
    case 'tools': {
      const tools = op.names.map((n, index) => ({ name: n, run: body(`${place}.${index}`) }))
      if (turn === undefined) return
      const results = await turn.tools(tools)
      return saw(results.map((one) => (one.status === 'done' ? one.result : one.status)))
    }
    case 'parallel':
      await Promise.all(
        op.branches.map((branch, index) => perform(frame, branch, `${place}|${index}`, turn)),
      )
      return saw(null)
  }
}

/** What the code read is what a step after it was given, also when only the reading is done again. */
async function kept(task: AgentTask, place: string, read: Json): Promise<Json> {
  const given = await task.step('read', () => ({ place, read }))
  if (given.place !== place || given.read !== read) {
    throw new Error(`${place} read ${read}, but the step was given ${JSON.stringify(given)}`)
  }
  return read
}

function begin({ begun, keys }: Trace, place: string, context: StepContext): void {
  begun.set(place, [...(begun.get(place) ?? []), context.attempt])
  keys.set(place, (keys.get(place) ?? new Set()).add(context.idempotencyKey))
}

/** How many loop turns an operation takes: differs from place to place and from run to run, the same for a seed. */
export const delays =
  (seed: number) =>
  (place: string, run: number): number => {
    let hash = seed + run * 7_919
    for (const character of place) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0
    return Math.abs(hash) % 4
  }

/** A step, tool, park or question gave what belongs to its own place, never what another branch was given. */
export function checkPlaces(seen: ReadonlyMap<string, Json>): void {
  for (const [place, value] of seen) {
    if (typeof value === 'string' && value.startsWith('/')) expect(value).toBe(place)
    if (typeof value === 'string' && value.startsWith('RangeError')) {
      expect(value).toBe(`RangeError: ${place}`)
    }
    if (typeof value === 'string' && value.startsWith('to ')) expect(value).toContain(`"${place}"`)
    if (Array.isArray(value)) {
      expect(value).toEqual(value.map((_, index) => `${place}.${index}`))
    }
  }
}
