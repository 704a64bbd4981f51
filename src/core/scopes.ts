/** What a caller may be allowed to do. Each method and route needs one of them. */
export type Scope =
  /** Read own tasks. */
  | 'tasks:read'
  /** Read the tasks of every principal of the tenant. */
  | 'tasks:read:all'
  /** Send messages, cancel, set webhooks. */
  | 'tasks:write'
  /** Pause, resume, remind. */
  | 'tasks:control'
  /** Park tasks: for workers outside the process. */
  | 'tasks:work'
  /** Send events that wake own tasks. */
  | 'events:write'
  /** Send events that wake tasks of every principal of the tenant. */
  | 'events:write:all'
  /** Read every task of the tenant under `/ops`. */
  | 'ops:read'
  /** Hold tasks. */
  | 'ops:control'

const table: Readonly<Record<Scope, true>> = {
  'tasks:read': true,
  'tasks:read:all': true,
  'tasks:write': true,
  'tasks:control': true,
  'tasks:work': true,
  'events:write': true,
  'events:write:all': true,
  'ops:read': true,
  'ops:control': true,
}

export const scopes: readonly Scope[] = Object.keys(table) as Scope[]

export function isScope(text: string): text is Scope {
  return Object.hasOwn(table, text)
}
