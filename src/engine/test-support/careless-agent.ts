/**
 * Random operations of careless authors. They throw anything, catch or do not, produce artifacts that are refused, run out
 * of time, delegate, watch, ask and park. The operations travel in the message, so one agent runs all of them. For tests only.
 */
import fc from 'fast-check'
import type { Json } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { awkwardValues } from '../../core/test-support/awkward-values.ts'
import type { Agent } from '../agent.ts'
import type { AgentTask } from '../agent-task.ts'
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
      readonly operations: CarelessOperations
    }

export type CarelessOperations = readonly CarelessOp[]
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

/** @param later waits for the clock, whatever a signal says */
export function carelessAgent(later: (ms: number) => Promise<void>): Agent {
  return running(
    async (task) => {
      const [part] = task.message.parts
      const { operations } = (part as unknown as { data: { operations: CarelessOperations } }).data
      for (const op of operations) {
        const done = perform(task, op, later)
        if ('caught' in op && op.caught) await done.catch(() => undefined)
        else await done
      }
    },
    { name: 'careless' },
  )
}

async function perform(
  task: AgentTask,
  op: CarelessOp,
  later: (ms: number) => Promise<void>,
): Promise<void> {
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
      return delegate(task, op)
  }
}

async function delegate(task: AgentTask, op: CarelessOp & { op: 'delegate' }): Promise<void> {
  const child = await task.delegate('careless', partsFor(op.operations))
  if (op.use === 'result') {
    const { state } = await child.result()
    if (state !== outcomeOf(op.operations)) throw new Error(`the child is ${state}`)
  }
  if (op.use !== 'watch') return
  for await (const _record of child.watch()) {
    // Watching is all it does.
  }
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
