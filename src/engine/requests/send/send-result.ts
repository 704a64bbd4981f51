import type { Message } from '../../../core/messages/message.ts'
import type { MakePush } from '../../../core/push.ts'
import type { Decision, LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import type { CheckedSendRequest } from '../../input/requests.ts'
import type { InFlight } from './in-flight.ts'

/** The result of a message: a task or a stateless reply. `repeated` is true if the message had been handled before. */
export type SendResult =
  | {
      readonly kind: 'task'
      /** The state of the task when the records of this message had been applied. */
      readonly task: Task
      /** Records that the same commit wrote after those of the message. `latest` is the task after them. */
      readonly laterRecords: readonly LogRecord[]
      readonly latest: Task
      readonly repeated: boolean
      /** What the message did if it was an answer. */
      readonly answered?: AnswerTaken
    }
  | { readonly kind: 'message'; readonly message: Message; readonly repeated: boolean }

export interface AnswerTaken {
  /** Absent for a text that decided nothing, and for a repeated request. */
  readonly isAnswer?: true
  readonly decision?: Decision
  /** The task is held. The answer is kept until the hold is lifted. */
  readonly isKept?: true
}

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
