/** Which results of steps the compiler accepts and refuses. Checked by `tsc`; nothing here runs. */
import type { Json } from '../../core/values/json.ts'
import type { AgentTask, StepFunction } from './agent-task.ts'
import type { JsonSerializable, StepResult } from './step-result.ts'

interface Plan {
  readonly sha: string
  readonly files: readonly string[]
  readonly note?: string
  readonly parent?: Plan
}

class Invoice {
  readonly total = 1
  pay(): void {}
}

declare const plan: Plan
declare const anything: unknown
// biome-ignore lint/style/noRestrictedGlobals: only its type
declare const date: Date

export async function accepted(task: AgentTask): Promise<void> {
  const kept = await task.step('an interface', () => plan)
  kept satisfies Plan
  const text = await task.step('a promise', async () => 'text')
  text satisfies string
  await task.step('nothing', () => {})
  await task.step('undefined', async () => undefined)
  await task.step('maybe', () => (text === '' ? undefined : plan))
  await task.step('an undefined member', () => ({ a: 1, gone: undefined }))
  await task.step('a union', () => (text === '' ? { ok: true as const } : { ok: false as const }))
  await task.step('a tuple', () => ['a', 1] as const)
  await task.step('JSON', () => JSON.parse('{}') as Json)
  await task.step('unknown', () => anything)
  await task.step('any', () => JSON.parse('{}'))
  await task.step('a record', () => ({}) as Record<string, Plan>)
  const typed = await task.step('a context', ({ attempt, mayHaveRun }) => ({ attempt, mayHaveRun }))
  typed.attempt satisfies number
  typed.mayHaveRun satisfies boolean
  await task.step<string>('an explicit type', () => 'text')
  await task.turn((turn) => turn.tool('a tool', async () => plan))
}

export async function refused(task: AgentTask): Promise<void> {
  // @ts-expect-error a Date comes back as text
  await task.step('a date', () => date)
  // @ts-expect-error also deep inside
  await task.step('a date inside', async () => ({ plan, at: { created: date } }))
  // @ts-expect-error a Map comes back empty
  await task.step('a map', () => new Map([['a', 1]]))
  // @ts-expect-error a Set comes back empty
  await task.step('a set', () => ({ names: new Set(['a']) }))
  // @ts-expect-error an instance loses its methods
  await task.step('an instance', () => new Invoice())
  // @ts-expect-error a bigint is no JSON
  await task.step('a bigint', () => 1n)
  // @ts-expect-error a function is no JSON
  await task.step('a function', () => () => 1)
  // @ts-expect-error a symbol is no JSON
  await task.step('a symbol', () => Symbol('a'))
  // @ts-expect-error undefined in a list comes back as null
  await task.step('a hole', () => [1, undefined])
  // @ts-expect-error bytes come back as an object
  await task.step('bytes', () => new Uint8Array(1))
  // @ts-expect-error also as a tool
  await task.turn((turn) => turn.tool('a tool', () => date))
}

/** A wrapper hands the requirement on. */
export function wrapped<T>(
  task: AgentTask,
  run: StepFunction<T> & JsonSerializable<T>,
): Promise<T> {
  return task.step('wrapped', run)
}

plan satisfies StepResult<Plan>
