/**
 * The methods of Lull's A2A extensions, one row each. JSON-RPC names, REST routes, the published catalog and the client's
 * operations are made from this table: a row that one of them does not serve fails to compile.
 */
export interface ExtensionMethod {
  readonly extension: 'task-control' | 'reminders' | 'receipts'
  /** The JSON-RPC name in both versions. A2A 1.0 names its methods in PascalCase, so the names cannot collide. */
  readonly method: string
  /** REST: `/tasks/{taskId}:action`. */
  readonly action: string
  /** The first one is published. */
  readonly verbs: readonly ('GET' | 'POST')[]
  /** The published shapes are called `…Request` and `…Result`. */
  readonly shape: string
}

export type ExtensionMethodName =
  | 'pause'
  | 'resume'
  | 'park'
  | 'remind'
  | 'listReminders'
  | 'clearReminders'
  | 'listReceipts'

const row = (
  extension: ExtensionMethod['extension'],
  method: string,
  action: string,
  shape: string,
  verbs: ExtensionMethod['verbs'] = ['POST'],
): ExtensionMethod => ({ extension, method, action, verbs, shape })

export const extensionMethods: Readonly<Record<ExtensionMethodName, ExtensionMethod>> = {
  pause: row('task-control', 'tasks/pause', 'pause', 'Pause'),
  resume: row('task-control', 'tasks/resume', 'resume', 'Resume'),
  park: row('task-control', 'tasks/await_resumption', 'awaitResumption', 'AwaitResumption'),
  remind: row('reminders', 'tasks/inject_reminder', 'injectReminder', 'InjectReminder'),
  listReminders: row('reminders', 'tasks/list_reminders', 'listReminders', 'ListReminders', [
    'GET',
    'POST',
  ]),
  clearReminders: row('reminders', 'tasks/clear_reminders', 'clearReminders', 'ClearReminders'),
  listReceipts: row('receipts', 'tasks/list_receipts', 'listReceipts', 'ListReceipts', [
    'GET',
    'POST',
  ]),
}

/** In the order of the table. */
export const extensionMethodList: readonly (ExtensionMethod & {
  readonly name: ExtensionMethodName
})[] = (Object.keys(extensionMethods) as ExtensionMethodName[]).map((name) => ({
  name,
  ...extensionMethods[name],
}))
