import type { Message } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'

/** A task (new, continued, or the one the message started before), or a stateless reply. */
export type Sent =
  | { readonly kind: 'task'; readonly task: Task; readonly repeated: boolean }
  | { readonly kind: 'message'; readonly message: Message; readonly repeated: boolean }
