/**
 * Reads a suspend or a wake from `_meta.harn.suspend` of another request, for hosts that cannot
 * call the methods:
 * `{op: "suspend" | "wake", …}` in snake_case or camelCase. `_meta.lull.suspend` is read the same way.
 */
import type { z } from 'zod'
import { LullError } from '../../../core/errors.ts'
import type { Json } from '../../../core/values/json.ts'
import { camelCased, camelConditions } from '../../../core/waiting/worker-suspension.ts'
import { parse } from '../../../engine/input/parse.ts'
import type { Meta } from '../connection/address.ts'
import { suspendRequest, wakeRequest } from '../schemas/requests.ts'

export type SuspendFields = z.infer<typeof suspendRequest>
export type WakeFields = z.infer<typeof wakeRequest>

export type Tunnelled =
  | { readonly op: 'suspend'; readonly request: SuspendFields }
  | { readonly op: 'wake'; readonly request: WakeFields }

/** Undefined when the request contains neither. */
export function readTunnelled(meta: Meta, sessionId: string, harn: boolean): Tunnelled | undefined {
  for (const name of ['lull', ...(harn ? ['harn'] : [])]) {
    const carrier = meta?.[name]
    const given = isFields(carrier) ? carrier['suspend'] : undefined
    if (!isFields(given)) continue
    const found = read(camelCased(given), sessionId, `_meta.${name}.suspend`)
    if (found !== undefined) return found
  }
  return undefined
}

function read(given: Fields, sessionId: string, path: string): Tunnelled | undefined {
  const { op } = given
  if (op === 'suspend') return { op, request: readSuspend(given, sessionId, path) }
  if (op === 'wake' || op === 'resume') {
    return { op: 'wake', request: readWake(given, sessionId, path) }
  }
  if (op !== undefined) {
    const problem = 'must be suspend or wake'
    throw new LullError('INVALID_INPUT', { path: `${path}.op`, problem })
  }
  // A handle alone means wake. With other members, it is metadata of Lull that the client sends
  // back.
  return given['handle'] === undefined || given['state'] !== undefined
    ? undefined
    : { op: 'wake', request: readWake(given, sessionId, path) }
}

function readSuspend(
  { reason, mode, ...given }: Fields,
  sessionId: string,
  path: string,
): SuspendFields {
  const resumeWhen = camelConditions(given['resumeWhen'] ?? given['conditions'])
  const fields = present({ sessionId, reason, mode, resumeWhen })
  return parse(suspendRequest, fields, path)
}

function readWake(given: Fields, sessionId: string, path: string): WakeFields {
  const { handle, input, continueTranscript } = given
  const fields = present({
    sessionId,
    handle,
    input: input as Json | undefined,
    continueTranscript,
  })
  return parse(wakeRequest, fields, path)
}

type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function present(given: Fields): Fields {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  )
}
