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
import { Handed } from '../operation.ts'
import type { RunCore } from '../run-core.ts'
import type { RunAct } from '../run-writer.ts'
import type { Stop } from './stops.ts'

export interface Parks {
  park(park: Park, fingerprint?: string): Promise<Wake>
  sleep(time: Sleep): Promise<Wake>
  /** The park of that key is over. */
  woken(key: string, wake: Wake, seq: number): void
}

/** A thousand years, as for timeouts. */
const LONGEST_MS = 31_622_400_000_000
/** The last instant that a `Date` can have. */
const LAST_INSTANT = 8_640_000_000_000_000

export function createParks(core: RunCore, stop: Stop): Parks {
  const { host } = core
  const open = new Map<string, (wake: Wake, seq: number) => void>()

  function park(given: Park, fingerprint?: string): Promise<Wake> {
    core.notInside(fingerprint === undefined ? 'task.park' : 'task.sleep', 'step')
    const { reason, summary, timeout, input, ...others } = given
    const inputSchema = inputSchemaOf(input)
    const wanted = timeout === undefined ? others : { ...others, timeout: inMinutes(timeout) }
    const { conditions } = parse(parkInput, { reason, summary, conditions: wanted })
    const armed = conditions && Object.keys(conditions).length > 0 ? conditions : undefined
    host.fireAt(armed) // A schedule that is refused is refused here, before anything is written.
    const key = core.key('park')
    const print = fingerprint ?? canonical(armed ?? {})
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
        ...(inputSchema === undefined ? {} : { inputSchema }),
        ...(fireAt === undefined ? {} : { fireAt }),
        eventsNow: armed?.since === 'now' ? await host.eventsNow() : 0,
      }
    }
    return core.perform<Wake>({
      key,
      waits: true,
      fingerprint: print,
      replay: (entry) => (entry.kind === 'park' ? { value: entry.result } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (wake, seq) => resolve(Handed.of({ seq, settle: () => wake })))
          stop(act).catch(reject)
        }),
    })
  }

  function sleep(time: Sleep): Promise<Wake> {
    if (typeof time === 'object' && time !== null) {
      const at = instantIn(time.until)
      return park({ reason: `sleeping until ${at}`, trigger: { at } }, `sleep-until:${at}`)
    }
    const ms = durationMs(time, 'time')
    if (ms > LONGEST_MS) {
      throw new LullError('INVALID_INPUT', { path: 'time', problem: 'must be at most 1,000 years' })
    }
    const at = toIso(Math.ceil(host.clock.now() + ms))
    // The instant differs in every run, so the fingerprint is made from the duration.
    return park({ reason: `sleeping for ${ms} ms`, trigger: { at } }, `sleep:${ms}`)
  }

  return {
    park,
    sleep,
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
