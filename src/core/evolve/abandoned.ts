/** Steps of a task that the task no longer waits for, but whose functions may still be running. */
import type { LogRecord } from '../records.ts'
import type { AbandonedStep, Task } from '../task.ts'

/** The most abandoned steps that a task lists, the newest ones. The log has all of them. */
const MOST_ABANDONED = 64

export function withAbandoned(
  known: readonly AbandonedStep[],
  { key, name, attempt, settled }: LogRecord & { readonly type: 'abandoned' },
): readonly AbandonedStep[] {
  const before = known.find((step) => step.key === key)?.attempts ?? []
  const others = before.filter((one) => one !== attempt)
  const attempts = settled ? others : [...others, attempt].slice(-MOST_ABANDONED)
  const rest = known.filter((step) => step.key !== key)
  return attempts.length === 0 ? rest : [...rest, { key, name, attempts }].slice(-MOST_ABANDONED)
}

/**
 * The names of abandoned steps whose functions may still be running. Undefined if there are none.
 */
export function mayStillAct({ abandoned }: Pick<Task, 'abandoned'>): readonly string[] | undefined {
  if (abandoned.length === 0) return undefined
  return [...new Set(abandoned.map(({ name }) => name))]
}
