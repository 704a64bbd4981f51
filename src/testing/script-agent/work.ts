import type { StepContext, StepFunction } from '../../engine/author/agent-task.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EffectKind, type Effects, effectLine } from './effects.ts'
import type { WorkOptions } from './ops.ts'
import { splitEvenly } from './split-evenly.ts'

/**
 * Makes the function of a step or tool. It takes the given time, and writes its beginning and end
 * to `effects`.
 */
export type Work = (called: Called, manner: WorkOptions) => StepFunction<string>

/** Identifies a call: the task, and the nth step or tool of that name. */
export interface Called {
  readonly taskId: string
  readonly name: string
  readonly occurrence: number
}

export function createWork(clock: Pick<Clock, 'now' | 'after'>, effects: Effects): Work {
  return ({ taskId, name, occurrence }, manner) =>
    async (step) => {
      const { stubborn = false, throw: why } = manner
      const note = (kind: EffectKind): void =>
        effects(effectLine(kind, taskId, name, occurrence, step.attempt, clock.now()))
      note('begin')
      await takeTime(clock, step, name, manner)
      if (step.signal.aborted && !stubborn) {
        note('abort')
        throw step.signal.reason
      }
      note('end')
      if (why !== undefined) throw new Error(why)
      return name
    }
}

/** Waits, and meanwhile writes the text in equal pieces at equal intervals. */
async function takeTime(
  clock: Pick<Clock, 'after'>,
  { stream, signal }: StepContext,
  name: string,
  { ms = 0, stubborn = false, stream: text, chunks = 1 }: WorkOptions,
): Promise<void> {
  const stop = stubborn ? undefined : signal
  if (text === undefined) return passed(clock, ms, stop)
  const out = stream(name)
  for (const piece of splitEvenly([...text], chunks)) {
    if (stop?.aborted) return
    out.write(piece)
    await passed(clock, ms / chunks, stop)
  }
}

/** Resolves when the time is over or the signal aborts. */
function passed(
  clock: Pick<Clock, 'after'>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0 || signal?.aborted) {
      resolve()
      return
    }
    const done = (): void => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done)
  })
}
