/** Every call this client makes, as each version and binding names it. */
import type { Version } from './version.ts'

export interface Operation {
  /** What it is called in sentences. */
  readonly name: string
  /** Undefined: this version has no such method. */
  readonly method: Readonly<Record<Version, string | undefined>>
  readonly verb: 'GET' | 'POST'
  /** `{id}` and `{taskId}` are taken from the parameters. */
  readonly path: string
  /** One of our extensions: an unknown method means that the peer does not have it. */
  readonly isExtension: boolean
}

const core = (
  name: string,
  v1: string,
  v03: string | undefined,
  verb: 'GET' | 'POST',
  path: string,
): Operation => ({ name, method: { '1.0': v1, '0.3': v03 }, verb, path, isExtension: false })

/** Spelled alike in both versions. */
const extension = (name: string, method: string, action: string): Operation => ({
  name,
  method: { '1.0': method, '0.3': method },
  verb: 'POST',
  path: `tasks/{taskId}:${action}`,
  isExtension: true,
})

type OperationName =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'pause'
  | 'resume'
  | 'park'
  | 'remind'
  | 'listReminders'
  | 'clearReminders'

export const operations: Readonly<Record<OperationName, Operation>> = {
  send: core('send', 'SendMessage', 'message/send', 'POST', 'message:send'),
  stream: core('streaming', 'SendStreamingMessage', 'message/stream', 'POST', 'message:stream'),
  get: core('get', 'GetTask', 'tasks/get', 'GET', 'tasks/{id}'),
  list: core('lists of tasks', 'ListTasks', undefined, 'GET', 'tasks'),
  cancel: core('cancel', 'CancelTask', 'tasks/cancel', 'POST', 'tasks/{id}:cancel'),
  subscribe: core(
    'subscriptions',
    'SubscribeToTask',
    'tasks/resubscribe',
    'POST',
    'tasks/{id}:subscribe',
  ),
  pause: extension('pause', 'tasks/pause', 'pause'),
  resume: extension('resume', 'tasks/resume', 'resume'),
  park: extension('parks from outside', 'tasks/await_resumption', 'awaitResumption'),
  remind: extension('reminders', 'tasks/inject_reminder', 'injectReminder'),
  listReminders: extension('lists of reminders', 'tasks/list_reminders', 'listReminders'),
  clearReminders: extension('clearing reminders', 'tasks/clear_reminders', 'clearReminders'),
}
