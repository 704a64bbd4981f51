/** The names that A2A and its extensions give to versions, bindings, extensions and methods. */
import {
  type ExtensionMethod,
  type ExtensionMethodName,
  extensionMethods,
} from '../../wire/a2a-extension-methods.ts'

/** The versions and bindings that this client supports, the preferred one first. */
export type Version = '1.0' | '0.3'
/** GRPC is for Node, and for A2A 1.0. */
export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

export const versions: readonly Version[] = ['1.0', '0.3']
export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

/** The extensions that this client supports. Their pages are in `spec/`. */
export const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
export const REMINDERS = 'urn:lull:a2a:reminders:1'
export const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
export const STREAMS = 'urn:lull:a2a:streams:1'
export const USAGE = 'urn:lull:a2a:usage:1'
export const PROGRESS = 'urn:lull:a2a:progress:1'
/** Requested in 0.3 only: without it, peers of 0.3 have no frame for some changes of reminders. */
export const RFC_NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'

/** One call of the client, with its name in each version and binding. */
export interface Operation {
  /** The name in error messages. */
  readonly name: string
  /** The JSON-RPC method. Undefined: this version has no such method. */
  readonly method: Readonly<Record<Version, string | undefined>>
  readonly verb: 'GET' | 'POST'
  /** The REST path. `{id}` and `{taskId}` are taken from the parameters. */
  readonly path: string
  /** The method belongs to an extension, so a peer that does not know it does not offer the extension. */
  readonly isExtension: boolean
}

const core = (
  name: string,
  v1: string,
  v03: string | undefined,
  verb: 'GET' | 'POST',
  path: string,
): Operation => ({ name, method: { '1.0': v1, '0.3': v03 }, verb, path, isExtension: false })

/** Methods of extensions have the same name in both versions. */
const extension = (name: string, { method, action }: ExtensionMethod): Operation => ({
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
