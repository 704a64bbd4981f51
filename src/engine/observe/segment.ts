/**
 * The span of what a run does for its task until the task stops or ends.
 *
 * G1  A run has at most one open segment. The next one begins when the run goes on after a stop.
 * G2  Each execution of a step is a span in the segment. A step whose result comes from the journal is none.
 */

import type { Task } from '../../core/task.ts'
import type { SpanLink } from '../../core/values/span-link.ts'
import type { Span, Tracing } from '../../ports/tracing.ts'
import { taskAttributes } from './task-attributes.ts'

/** A longer name is cut, because a backend may refuse it. */
const LONGEST_NAME = 100

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Segment {
  readonly #tracing: Tracing
  #span: Span | undefined

  constructor(tracing: Tracing) {
    this.#tracing = tracing
  }

  get link(): SpanLink | undefined {
    return this.#span?.link
  }

  begin(task: Task, rebuilt: boolean): void {
    if (!this.#tracing.active()) return
    this.end(task)
    this.#span = this.#tracing.start(`segment ${task.agent}`, {
      parent: task.trace,
      attributes: {
        ...taskAttributes(task),
        'lull.segment.epoch': task.epoch,
        'lull.segment.rebuilt': rebuilt,
      },
    })
  }

  /** The name of the event and its attributes are those of Bindu. */
  stateChanged(before: Task['state'], now: Task['state']): void {
    if (before === now) return
    this.#span?.event('task.state_changed', { from_state: before, to_state: now })
  }

  end({ state, failure }: Task): void {
    if (this.#span === undefined) return
    this.#span.set({ 'lull.task.state': state })
    if (state === 'failed') this.#span.fail(failure?.name ?? 'Error')
    this.#span.end()
    this.#span = undefined
  }

  during<T>(code: () => T): T {
    return this.#span === undefined ? code() : this.#span.during(code)
  }

  /** The span of one execution of a step. */
  step(
    task: Task,
    {
      name,
      key,
      attempt,
    }: { readonly name: string; readonly key: string; readonly attempt: number },
  ): Span | undefined {
    if (this.#span === undefined) return undefined
    return this.#tracing.start(`step ${name}`.slice(0, LONGEST_NAME), {
      parent: this.#parentNow(this.#span.link),
      attributes: {
        ...taskAttributes(task),
        'lull.step.key': key,
        'lull.step.attempt': attempt,
      },
    })
  }

  /** The span that the code is in. Code that began before the last stop is still in a span of the segment before it. */
  #parentNow(segment: SpanLink): SpanLink {
    const current = this.#tracing.current()
    return current?.traceId === segment.traceId ? current : segment
  }
}
