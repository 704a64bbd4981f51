/**
 * One task in memory, and the phases it goes through. `move` refuses every change of phase that is not in the table.
 *
 *                  ┌────────────── conflict ──────────────┐
 *                  ▼                                      │
 *   unknown ──▶ loading ──▶ idle ──▶ queued ──flush──▶ writing ──▶ idle
 *      │           └──▶ unreadable      ▲                 ▲
 *      └── a create ────────────────────┴── or open ──────┘
 *
 * In a shared store, a decision that writes nothing goes through `checking`: the store is asked
 * whether the task in memory is up to date. If it is, the callers are answered. Otherwise the task
 * is read and everything is decided again.
 */
import { LullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import type { Plan, Waiting } from './plan.ts'

export type Phase =
  /** The store has not been read, or there is no such task. */
  | 'unknown'
  /** The store is being read. */
  | 'loading'
  /** The log cannot be folded. Every command is refused. */
  | 'unreadable'
  /** `task` is the stored task, and no command waits. */
  | 'idle'
  /**
   * A create was decided before its commit is durable. Further commands are decided at once, and
   * join its commit.
   */
  | 'open'
  /** Commands wait for the next flush. */
  | 'queued'
  /** A commit is in flight. Commands wait until it has settled. */
  | 'writing'
  /** The store is asked for the version of the task. Commands wait. */
  | 'checking'

type Transition = readonly [from: Phase, to: readonly Phase[], on: string]

export const phaseTransitions: readonly Transition[] = [
  ['unknown', ['loading'], 'a read, or a command to a task that may exist'],
  [
    'unknown',
    ['queued'],
    'a create: the store refuses to create what exists, so it is not read first',
  ],
  ['unknown', ['open'], 'a create that is decided ahead of its commit'],
  ['loading', ['idle', 'unknown'], 'the store answered: there is a task, or there is none'],
  ['loading', ['queued'], 'the store answered, and commands wait'],
  ['loading', ['unreadable'], 'the log cannot be folded'],
  ['loading', ['unknown'], 'the store could not be read'],
  ['loading', ['loading'], 'another process wrote meanwhile'],
  ['idle', ['queued'], 'a command'],
  ['idle', ['loading'], 'another process wrote'],
  ['open', ['writing'], 'the flush'],
  ['queued', ['writing'], 'the flush decided something to write'],
  ['open', ['unknown'], 'the create was refused'],
  ['queued', ['idle', 'unknown'], 'the flush decided nothing to write'],
  ['writing', ['idle', 'queued'], 'written; commands came meanwhile, or none'],
  [
    'writing',
    ['loading'],
    'another process wrote, or another task has the key: read, then decide again',
  ],
  ['writing', ['unknown'], 'not written'],
  ['queued', ['checking'], 'the flush decided nothing to write'],
  ['checking', ['idle', 'unknown', 'queued'], 'the task is up to date; commands came, or none'],
  ['checking', ['loading'], 'another process wrote: read, then decide again'],
]

const allowed = new Map<Phase, Set<Phase>>()
for (const [from, to] of phaseTransitions) {
  allowed.set(from, new Set([...(allowed.get(from) ?? []), ...to]))
}

const settled: Readonly<Record<Phase, boolean>> = {
  unknown: true,
  unreadable: true,
  idle: true,
  loading: false,
  open: false,
  queued: false,
  writing: false,
  checking: false,
}

export interface TaskEntry {
  readonly id: string
  phase: Phase
  /** The stored task. Undefined if it does not exist or was not read. */
  task: Task | undefined
  row: TaskRow | undefined
  snapshotSeq: number
  /**
   * The version that the store named when a commit conflicted. A log that ends before it is
   * incomplete.
   */
  storedVersion: number
  /** The version that another process reported. 0 when the store was read after the report. */
  heardVersion: number
  /**
   * Set when the store lost writes while a read, check or commit of this entry was under way. The
   * task is read again afterwards.
   */
  stale: boolean
  /** Approximate bytes of `task`. */
  bytes: number
  /** Present in phase `loading`. */
  loading: Promise<void> | undefined
  /** The commit to write. Present in the phases `open` and `writing`. */
  plan: Plan | undefined
  /** Commands that have not been decided yet. */
  queue: Waiting[]
}

export function createTaskEntry(id: string): TaskEntry {
  return {
    id,
    phase: 'unknown',
    task: undefined,
    row: undefined,
    snapshotSeq: 0,
    storedVersion: 0,
    heardVersion: 0,
    stale: false,
    bytes: 0,
    loading: undefined,
    plan: undefined,
    queue: [],
  }
}

export function move(entry: TaskEntry, to: Phase): void {
  if (!allowed.get(entry.phase)?.has(to)) {
    throw new Error(`task ${entry.id}: an entry that is ${entry.phase} cannot become ${to}`)
  }
  entry.phase = to
}

/**
 * Whether no command, read or commit is in progress, so that the entry may be dropped from memory.
 */
export function isSettled({ phase }: TaskEntry): boolean {
  return settled[phase]
}

/** Whether the create was decided and is not stored yet. */
export function isNotYetDurable({ task, plan }: TaskEntry): boolean {
  return task === undefined && plan !== undefined
}

/** Drops the task in memory: it is out of date, or was never in the store. */
export function forget(entry: TaskEntry): void {
  entry.task = undefined
  entry.row = undefined
  entry.bytes = 0
  entry.snapshotSeq = 0
  entry.stale = false
}

/**
 * Called when the store has lost writes: whatever is under way for the entry must not rely on the
 * earlier state.
 */
export function forgetUnderWay(entry: TaskEntry): void {
  entry.storedVersion = 0
  // Without a task in memory, the decision is checked, the task is read, and the commands are
  // decided again.
  if (entry.phase === 'queued') forget(entry)
  else entry.stale = true
}

export function unreadableError({ id, task }: TaskEntry): LullError {
  const why = task?.suspension?.summary ?? 'its log cannot be read'
  return new LullError('TASK_UNREADABLE', { taskId: id, why })
}
