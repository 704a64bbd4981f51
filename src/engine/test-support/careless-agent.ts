/**
 * Random operations of careless authors. They throw anything, catch or do not, produce artifacts that are refused, run out
 * of time, delegate, wait inside and outside of steps, watch, ask and park. The operations travel in the message, so one
 * agent runs all of them. For tests only.
 */
import fc from 'fast-check'
import type { Part } from '../../core/messages/message.ts'
import { awkwardValues } from '../../core/test-support/awkward-values.ts'
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTask, Child } from '../author/agent-task.ts'
import { running } from './engine-harness.ts'

export type CarelessOp =
  | { readonly op: 'throw'; readonly value: string; readonly in: Place; readonly caught: boolean }
  | { readonly op: 'refused'; readonly caught: boolean }
  | { readonly op: 'timeout'; readonly stubborn: boolean; readonly caught: boolean }
  | { readonly op: 'step' | 'say' | 'ask' | 'park' | 'sleep' | 'artifact' }
  | { readonly op: 'forgotten' }
  | {
      readonly op: 'delegate'
      readonly use: 'result' | 'watch' | 'nothing'
      /** Where it waits. */
      readonly in: WaitPlace
      readonly operations: CarelessOperations
    }

export type CarelessOperations = readonly CarelessOp[]
const waitPlaces = ['run', 'step', 'nested', 'tool', 'batch', 'beside', 'parking', 'both'] as const
type WaitPlace = (typeof waitPlaces)[number]
type Place = 'run' | 'step' | 'turn' | 'tool' | 'nested'

const caught = fc.boolean()
const careful: fc.Arbitrary<CarelessOp> = fc.constantFrom<CarelessOp>(
  { op: 'step' },
  { op: 'say' },
  { op: 'ask' },
  { op: 'park' },
  { op: 'sleep' },
  { op: 'artifact' },
)
const careless: fc.Arbitrary<CarelessOp> = fc.oneof(
  fc.record<CarelessOp & { op: 'throw' }>({
    op: fc.constant('throw'),
    value: fc.constantFrom(...Object.keys(awkwardValues)),
    in: fc.constantFrom<Place>('run', 'step', 'turn', 'tool', 'nested'),
    caught,
  }),
  caught.map((is): CarelessOp => ({ op: 'refused', caught: is })),
  fc.constant<CarelessOp>({ op: 'forgotten' }),
  fc
    .tuple(fc.boolean(), caught)
    .map(([stubborn, is]): CarelessOp => ({ op: 'timeout', stubborn, caught: is })),
)
const leaf = fc.oneof({ weight: 3, arbitrary: careful }, { weight: 2, arbitrary: careless })
const delegated = (operations: fc.Arbitrary<CarelessOperations>): fc.Arbitrary<CarelessOp> =>
  fc.record<CarelessOp & { op: 'delegate' }>({
    op: fc.constant('delegate'),
    use: fc.constantFrom('result', 'watch', 'nothing'),
    in: fc.constantFrom(...waitPlaces),
    operations,
  })
const leaves = fc.array(leaf, { maxLength: 3 })
const withChildren = fc.array(
  fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 1, arbitrary: delegated(leaves) }),
  { maxLength: 4 },
)

export const carelessOperations: fc.Arbitrary<CarelessOperations> = fc.array(
  fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 1, arbitrary: delegated(withChildren) }),
  { minLength: 1, maxLength: 5 },
)

export const partsFor = (operations: CarelessOperations): readonly Part[] => [
  { data: { operations } as unknown as Json },
]

/** How the task ends if nobody cancels it. */
export function outcomeOf(operations: CarelessOperations): 'completed' | 'failed' {
  return operations.some((op) => 'caught' in op && !op.caught) ? 'failed' : 'completed'
}

/** What the agent needs from its test. */
export interface CarelessDeps {
  /** Waits for the clock, whatever a signal says. */
  later(ms: number): Promise<void>
  /** Code of the task works until the promise settles. */
  working<T>(taskId: string, work: Promise<T>): Promise<T>
}

export function carelessAgent(deps: CarelessDeps): Agent {
  return running(
    async (task) => {
      const [part] = task.message.parts
      const { operations } = (part as unknown as { data: { operations: CarelessOperations } }).data
      for (const op of operations) {
        const done = perform(task, op, deps)
        if ('caught' in op && op.caught) await done.catch(() => undefined)
        else await done
      }
    },
    { name: 'careless' },
  )
}

async function perform(task: AgentTask, op: CarelessOp, deps: CarelessDeps): Promise<void> {
  const { later } = deps
  switch (op.op) {
    case 'throw':
      return thrownIn[op.in](task, () => {
        throw awkwardValues[op.value]?.()
      })
    case 'refused':
      await task.artifact({ name: 'bad', text: 'x', metadata: { at: new Map() } as never })
      return
    case 'timeout': {
      const slow = async ({ signal }: { signal: AbortSignal }): Promise<void> => {
        await Promise.race([
          later(op.stubborn ? 5_000 : 60_000),
          op.stubborn ? never : fired(signal),
        ])
        await task.say('late')
      }
      await task.step('slow', slow, { timeoutMs: 1_000 })
      return
    }
    case 'forgotten':
      void task.step('forgotten', () => Promise.reject(new Error('nobody waits')))
      return
    case 'step':
      await task.step('good', () => 1)
      return
    case 'say':
      return task.say('hello')
    case 'artifact':
      await task.artifact({ name: 'good', text: 'x' })
      return
    case 'ask':
      await task.ask('?')
      return
    case 'park':
      await task.park({ reason: 'waiting' })
      return
    case 'sleep':
      await task.sleep(1_000)
      return
    case 'delegate':
      return delegate(task, op, deps)
  }
}

async function delegate(
  task: AgentTask,
  op: CarelessOp & { op: 'delegate' },
  deps: CarelessDeps,
): Promise<void> {
  const child = await task.delegate('careless', partsFor(op.operations))
  await waitsIn[op.in](task, () => waitFor(child, op), deps)
}

async function waitFor(child: Child, op: CarelessOp & { op: 'delegate' }): Promise<void> {
  if (op.use === 'result') {
    const { state } = await child.result()
    if (state !== outcomeOf(op.operations)) throw new Error(`the child is ${state}`)
  }
  if (op.use !== 'watch') return
  for await (const _record of child.watch()) {
    // Watching is all it does.
  }
}

type WaitsIn = (task: AgentTask, wait: () => Promise<void>, deps: CarelessDeps) => Promise<unknown>

const waitsIn: Readonly<Record<WaitPlace, WaitsIn>> = {
  run: (_task, wait) => wait(),
  step: (task, wait) => task.step('waits', wait),
  nested: (task, wait) => task.step('outer', () => task.step('waits', wait)),
  tool: (task, wait) => task.turn((turn) => turn.tool('waits', wait)),
  batch: (task, wait, deps) =>
    task.turn(async (turn) => {
      const tools = await turn.tools([
        { name: 'works', run: () => work(task, deps) },
        { name: 'waits', run: () => wait().then(() => 1) },
        { name: 'works', run: () => work(task, deps) },
      ])
      const failed = tools.find(({ status }) => status === 'failed')
      if (failed !== undefined) throw new Error(JSON.stringify(failed))
    }),
  beside: (task, wait, deps) =>
    Promise.all([task.step('waits', wait), task.step('works', () => work(task, deps))]),
  parking: (task, wait) => Promise.all([task.step('waits', wait), task.park({ reason: 'beside' })]),
  both: (task, wait) => Promise.all([task.step('waits', wait), wait()]),
}

async function work(task: AgentTask, { later, working }: CarelessDeps): Promise<number> {
  await working(task.id, later(700))
  return 1
}

const thrownIn: Readonly<Record<Place, (task: AgentTask, thrown: () => never) => Promise<void>>> = {
  run: async (_task, thrown) => thrown(),
  step: (task, thrown) => task.step('bad', thrown),
  turn: (task, thrown) => task.turn(thrown),
  tool: (task, thrown) => task.turn((turn) => turn.tool('bad', thrown)),
  nested: (task, thrown) => task.step('outer', () => task.step('bad', thrown)),
}

const never: Promise<never> = new Promise(() => undefined)

function fired(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
