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

export const extensionMethods: Readonly<Record<ExtensionMethodName, ExtensionMethod>> = {
  pause: {
    extension: 'task-control',
    method: 'tasks/pause',
    action: 'pause',
    verbs: ['POST'],
    shape: 'Pause',
  },
  resume: {
    extension: 'task-control',
    method: 'tasks/resume',
    action: 'resume',
    verbs: ['POST'],
    shape: 'Resume',
  },
  park: {
    extension: 'task-control',
    method: 'tasks/await_resumption',
    action: 'awaitResumption',
    verbs: ['POST'],
    shape: 'AwaitResumption',
  },
  remind: {
    extension: 'reminders',
    method: 'tasks/inject_reminder',
    action: 'injectReminder',
    verbs: ['POST'],
    shape: 'InjectReminder',
  },
  listReminders: {
    extension: 'reminders',
    method: 'tasks/list_reminders',
    action: 'listReminders',
    verbs: ['GET', 'POST'],
    shape: 'ListReminders',
  },
  clearReminders: {
    extension: 'reminders',
    method: 'tasks/clear_reminders',
    action: 'clearReminders',
    verbs: ['POST'],
    shape: 'ClearReminders',
  },
  listReceipts: {
    extension: 'receipts',
    method: 'tasks/list_receipts',
    action: 'listReceipts',
    verbs: ['GET', 'POST'],
    shape: 'ListReceipts',
  },
}

/** In the order of the table. */
export const extensionMethodList: readonly (ExtensionMethod & {
  readonly name: ExtensionMethodName
})[] = (Object.keys(extensionMethods) as ExtensionMethodName[]).map((name) => ({
  name,
  ...extensionMethods[name],
}))
