/** What steps and tools of a script do: they take time, and write a line for each effect. */
import { fsyncSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import type { StepContext, StepFunction } from '../../engine/author/agent-task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WorkOptions } from './ops.ts'

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

/** Splits into exactly `chunks` texts of nearly equal size. */
export function splitEvenly(units: readonly string[], chunks: number): readonly string[] {
  const edge = (index: number): number => Math.round((index * units.length) / chunks)
  return Array.from({ length: chunks }, (_, index) =>
    units.slice(edge(index), edge(index + 1)).join(''),
  )
}

/** Writes one line. It is durable when the call returns. */
export type Effects = (line: string) => void

type EffectKind = 'begin' | 'end' | 'abort'

/**
 * The line that a step writes when it is executed: `begin|end|abort <taskId> <name> <occurrence> <attempt> <pid>
 * <epochMs>`. Tests count side effects by these lines, across crashes.
 */
export function effectLine(
  kind: EffectKind,
  taskId: string,
  name: string,
  occurrence: number,
  attempt: number,
  at: number,
): string {
  // A lone surrogate cannot be percent-encoded, but UTF-8 has replaced it by U+FFFD.
  const encoded = encodeURIComponent(Buffer.from(name).toString())
  return [kind, taskId, encoded, occurrence, attempt, process.pid, at].join(' ')
}

/** Appends lines to the file named by `LULL_EFFECTS`, if any. */
export function createEffectsFile(
  pathOf: () => string | undefined = () => process.env['LULL_EFFECTS'],
): Effects {
  let opened: { readonly path: string; readonly file: number } | undefined
  return (line) => {
    const path = pathOf()
    if (path === undefined || path === '') return
    if (opened?.path !== path) opened = { path, file: openSync(path, 'a') }
    writeSync(opened.file, `${line}\n`)
    fsyncSync(opened.file)
  }
}
