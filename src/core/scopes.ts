/** What a caller may be allowed to do. Each method and route needs one of them. */
export type Scope =
  /** Read own tasks. */
  | 'tasks:read'
  /** Read the tasks of every principal of the tenant. */
  | 'tasks:read:all'
  /** Send messages, cancel, set webhooks. */
  | 'tasks:write'
  /** Answer the questions and consents of every task of the tenant. */
  | 'tasks:answer:all'
  /** Pause, resume, remind. */
  | 'tasks:control'
  /** Pause, resume, cancel, remind and retry every task of the tenant. */
  | 'tasks:control:all'
  /** Park tasks: for workers outside the process. */
  | 'tasks:work'
  /** Send events that wake own tasks. */
  | 'events:write'
  /** Send events that wake tasks of every principal of the tenant. */
  | 'events:write:all'
  /** Read every task of the tenant under `/ops`. */
  | 'ops:read'
  /** Hold tasks, and control every task of the tenant. */
  | 'ops:control'

/** The scopes that include each scope. Each `:all` scope includes its own-task scope, and reading what it may act on. */
const includedIn: Readonly<Record<Scope, readonly Scope[]>> = {
  'tasks:read': [
    'tasks:read:all',
    'tasks:answer:all',
    'tasks:control:all',
    'ops:read',
    'ops:control',
  ],
  'tasks:read:all': ['tasks:answer:all', 'tasks:control:all', 'ops:read', 'ops:control'],
  'tasks:write': [],
  'tasks:answer:all': [],
  'tasks:control': ['tasks:control:all', 'ops:control'],
  'tasks:control:all': ['ops:control'],
  'tasks:work': [],
  'events:write': [],
  'events:write:all': [],
  'ops:read': [],
  'ops:control': [],
}

export const scopes: readonly Scope[] = Object.keys(includedIn) as Scope[]

export function isScope(text: string): text is Scope {
  return Object.hasOwn(includedIn, text)
}

/** Whether a credential with the scopes `has` may do what needs `scope`. */
export function allows(has: ReadonlySet<Scope>, scope: Scope): boolean {
  return has.has(scope) || includedIn[scope].some((wider) => has.has(wider))
}
