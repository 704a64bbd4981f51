/** `task.park` and `task.sleep`. */

import { LullError } from '../../../core/errors.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import type { Wake } from '../../../core/suspension.ts'
import { durationMs } from '../../../core/values/duration.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { Timeout } from '../../../core/waiting/conditions.ts'
import type { Park, Sleep } from '../../author/agent-task.ts'
import { isSchema, jsonSchemaOf } from '../../author/standard-schema.ts'
import { parkInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { HandedIn } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import type { RunAct } from '../run-writer.ts'
import type { Passed } from './one-stop.ts'

export interface Parks {
  park(park: Park): Promise<Wake>
  sleep(time: Sleep): Promise<Wake>
  /** The park of that key has ended. */
  woken(key: string, wake: Wake, seq: number): void
}

/** Writes the command of a stop. Resolves when the stop is recorded. */
export type Stop = (passed: Passed, act: () => Promise<RunAct>) => Promise<void>

/** A thousand years, as for timeouts. */
const LONGEST_MS = 31_622_400_000_000
/** The last instant that a `Date` can have. */
const LAST_INSTANT = 8_640_000_000_000_000

export function createParks(core: RunCore, stop: Stop): Parks {
  const { host } = core
  const open = new Map<string, (wake: Wake, seq: number) => void>()

  function parkWith(passed: Passed, given: Park, fingerprint?: string): Promise<Wake> {
    const { reason, summary, timeout, input, child, ...others } = given
    const children = childrenIn(child, core.task.children)
    const inputSchema = inputSchemaOf(input)
    const wanted = timeout === undefined ? others : { ...others, timeout: inMinutes(timeout) }
    const { conditions } = parse(parkInput, { reason, summary, conditions: wanted })
    const armed = conditions && Object.keys(conditions).length > 0 ? conditions : undefined
    host.fireAt(armed) // A schedule that is refused is refused here, before anything is written.
    const key = core.key('park')
    const print = fingerprint ?? canonical({ ...armed, ...children })
    const act = async (): Promise<RunAct> => {
      const fireAt = host.fireAt(armed)
      return {
        type: 'park',
        key,
        fingerprint: print,
        handle: `suspend-${host.ids.uuid()}`,
        reason,
        ...(summary === undefined ? {} : { summary }),
        ...(armed === undefined ? {} : { conditions: armed }),
        ...children,
        ...(inputSchema === undefined ? {} : { inputSchema }),
        ...(fireAt === undefined ? {} : { fireAt }),
        eventsNow: armed?.since === 'now' ? await host.eventsNow(core.task.tenant) : 0,
      }
    }
    return core.perform<Wake>({
      key,
      waits: true,
      fingerprint: print,
      replay: (entry) => (entry.kind === 'park' ? { value: entry.result } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (wake, seq) => resolve(HandedIn.of({ seq, settle: () => wake })))
          stop(passed, act).catch(reject)
        }),
    })
  }

  function sleepFor(passed: Passed, time: Sleep): Promise<Wake> {
    if (typeof time === 'object' && time !== null) {
      const at = instantIn(time.until)
      return parkWith(
        passed,
        { reason: `sleeping until ${at}`, trigger: { at } },
        `sleep-until:${at}`,
      )
    }
    const ms = durationMs(time, 'time')
    if (ms > LONGEST_MS) {
      throw new LullError('INVALID_INPUT', { path: 'time', problem: 'must be at most 1,000 years' })
    }
    const at = toIso(Math.ceil(host.clock.now() + ms))
    // The instant differs in every run, so the fingerprint is made from the duration.
    return parkWith(passed, { reason: `sleeping for ${ms} ms`, trigger: { at } }, `sleep:${ms}`)
  }

  return {
    park(given) {
      core.notInside('task.park', 'step')
      return core.oneStop.wait('park', (passed) => parkWith(passed, given))
    },
    sleep(time) {
      core.notInside('task.sleep', 'step')
      return core.oneStop.wait('sleep', (passed) => sleepFor(passed, time))
    },
    woken(key, wake, seq) {
      open.get(key)?.(wake, seq)
      open.delete(key)
    },
  }
}

/** Undefined where any input is taken. */
function inputSchemaOf(input: unknown): JsonObject | undefined {
  if (input === undefined) return undefined
  if (isSchema(input)) return jsonSchemaOf(input)
  const problem = 'must be a Standard Schema, such as z.object({…})'
  throw new LullError('INVALID_INPUT', { path: 'input', problem })
}

/** The children that a park waits for. The code has them from `task.delegate`. */
function childrenIn(
  given: Park['child'],
  known: readonly string[],
): { readonly children?: readonly string[] } {
  if (given === undefined) return {}
  const listed: readonly unknown[] = Array.isArray(given) ? given : [given]
  const children = [...new Set(listed.map(idOf))]
  const own = new Set<unknown>(known)
  if (children.length > 0 && children.every((id) => own.has(id))) {
    return { children: children.filter((id) => id !== undefined) }
  }
  const problem = 'must be a child that task.delegate returned, or a list of them'
  throw new LullError('INVALID_INPUT', { path: 'child', problem })
}

function idOf(child: unknown): string | undefined {
  const isChild = typeof child === 'object' && child !== null && 'id' in child
  return isChild && typeof child.id === 'string' ? child.id : undefined
}

/** The timeout in the unit of the protocols. */
function inMinutes(timeout: NonNullable<Park['timeout']>): Omit<Timeout, 'input'> {
  if (typeof timeout !== 'object' || timeout === null || !('afterMs' in timeout)) return timeout
  const { afterMs, ...rest } = timeout
  return { durationMinutes: durationMs(afterMs, 'conditions.timeout.afterMs') / 60_000, ...rest }
}

/** A number or a `Date` as ISO 8601. A text is checked with the trigger. */
function instantIn(until: Exclude<Sleep, number | string>['until']): string {
  if (typeof until === 'string') return until
  const at = Number(until)
  if (Math.abs(at) <= LAST_INSTANT) return toIso(at)
  const problem = 'must be an ISO 8601 instant, epoch milliseconds or a Date'
  throw new LullError('INVALID_INPUT', { path: 'time.until', problem })
}
