import type { Message } from '../../core/message.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'

/** A task (new, continued, or the one the message started before), or a stateless reply. */
export type SendResult =
  | {
      readonly kind: 'task'
      /** As the message left it. */
      readonly task: Task
      /** Records that the same commit wrote after the message. `latest` is the task after them; it may have ended. */
      readonly laterRecords: readonly LogRecord[]
      readonly latest: Task
      readonly repeated: boolean
    }
  | { readonly kind: 'message'; readonly message: Message; readonly repeated: boolean }
