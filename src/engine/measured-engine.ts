import { isLullError } from '../core/errors.ts'
import type { Meter } from '../ports/meter.ts'
import type { Engine } from './engine.ts'

/** An engine that counts the calls that it refuses because a limit is reached. */
export function measuredEngine(engine: Engine, meter: Meter): Engine {
  function refused(error: unknown): void {
    if (isLullError(error, 'LIMIT_EXCEEDED') || isLullError(error, 'OVERLOADED')) {
      meter.add('lull_limits_total', 1, error.details.limit)
    }
  }

  function counting<A extends readonly unknown[], R>(
    call: (...given: A) => Promise<R>,
  ): (...given: A) => Promise<R> {
    return (...given) => {
      const answer = call(...given)
      answer.catch(refused)
      return answer
    }
  }

  return {
    ...engine,
    send: counting(engine.send),
    emit: counting(engine.emit),
    remind: counting(engine.remind),
    pause: counting(engine.pause),
    park: counting(engine.park),
    admit: counting(engine.admit),
  }
}
