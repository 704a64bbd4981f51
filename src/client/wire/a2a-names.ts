/** Every call of the client, with its name in each version and binding. */
import {
  type ExtensionMethod,
  type ExtensionMethodName,
  extensionMethods,
} from '../../wire/a2a-extension-methods.ts'
import type { Version } from '../version.ts'

export interface Operation {
  /** The name in error messages. */
  readonly name: string
  /** Undefined: this version has no such method. */
  readonly method: Readonly<Record<Version, string | undefined>>
  readonly verb: 'GET' | 'POST'
  /** `{id}` and `{taskId}` are taken from the parameters. */
  readonly path: string
  /** A method of an extension: the peer does not have it when the method is unknown. */
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
const extension = (name: string, row: ExtensionMethod): Operation => ({
  name,
  method: { '1.0': row.method, '0.3': row.method },
  verb: 'POST',
  path: `tasks/{taskId}:${row.action}`,
  isExtension: true,
})

type OperationName =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | ExtensionMethodName

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
  pause: extension('pause', extensionMethods.pause),
  resume: extension('resume', extensionMethods.resume),
  park: extension('parks from outside', extensionMethods.park),
  remind: extension('reminders', extensionMethods.remind),
  listReminders: extension('lists of reminders', extensionMethods.listReminders),
  clearReminders: extension('clearing reminders', extensionMethods.clearReminders),
  listReceipts: extension('receipts', extensionMethods.listReceipts),
}
