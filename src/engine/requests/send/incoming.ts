import type { MakePush } from '../../../core/push.ts'
import type { Caller } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import type { CheckedSendRequest } from '../../input/requests.ts'
import type { InFlight } from './in-flight.ts'
import type { SendResult } from './send-result.ts'

/** A message that arrived, and who sent it. */
export interface Incoming {
  readonly caller: Caller
  readonly request: CheckedSendRequest
  /** Makes the webhook that came with the message. */
  readonly push: MakePush | undefined
}

/** The parts of the engine that handle messages. */
export interface Sending {
  readonly context: EngineContext
  readonly inFlight: InFlight<SendResult>
}
