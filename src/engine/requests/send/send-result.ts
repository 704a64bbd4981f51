import type { Message } from '../../../core/messages/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'

/** The result of a message: a task or a stateless reply. `repeated` is true if the message had been handled before. */
export type SendResult =
  | {
      readonly kind: 'task'
      /** The task after the records of the message. */
      readonly task: Task
      /** Records that the same commit wrote after those of the message. `latest` is the task after them. */
      readonly laterRecords: readonly LogRecord[]
      readonly latest: Task
      readonly repeated: boolean
    }
  | { readonly kind: 'message'; readonly message: Message; readonly repeated: boolean }
