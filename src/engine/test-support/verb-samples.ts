/** A valid request of every verb. A verb without one does not compile, and the tests of all verbs go over it. */
import type { Caller } from '../caller.ts'
import type { Engine } from '../engine.ts'
import { type VerbName, verbs } from '../requests/verbs.ts'

type RequestOf<V extends VerbName> = Parameters<Engine[V]>[1]

export const samples: { readonly [V in VerbName]: (taskId: string) => RequestOf<V> } = {
  pause: (taskId) => ({ taskId }),
  park: (taskId) => ({ taskId, reason: 'x' }),
  resume: (taskId) => ({ taskId }),
  cancel: (taskId) => ({ taskId }),
  fork: (taskId) => ({ taskId, at: 'park' }),
  remind: (taskId) => ({ taskId, reminder: { body: 'x' } }),
  clearReminders: (taskId) => ({ taskId }),
}

export const verbNames = Object.keys(verbs) as readonly VerbName[]

/** @param wrong members that replace those of the sample */
export function callVerb(
  engine: Engine,
  verb: VerbName,
  caller: Caller,
  taskId: string,
  wrong: object = {},
): Promise<unknown> {
  const call = engine[verb] as (caller: Caller, request: object) => Promise<unknown>
  return call(caller, { ...samples[verb](taskId), ...wrong })
}
