import type { MakePush } from '../../core/push.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds.ts'
import type { SendRequest } from '../requests.ts'
import type { InFlight } from './in-flight.ts'

/** A message as it came in. */
export interface Incoming {
  readonly caller: Caller
  readonly request: SendRequest
  /** Makes the webhook that came with it. */
  readonly push: MakePush | undefined
}

/** What handling a message needs. */
export interface Sending {
  readonly context: EngineContext
  readonly holds: Holds
  readonly inFlight: InFlight
}
