/**
 * One task in memory, and the phases it goes through. `move` refuses every change of phase that is not in the table.
 *
 *                  ┌────────────── conflict ──────────────┐
 *                  ▼                                      │
 *   unknown ──▶ loading ──▶ idle ──▶ queued ──flush──▶ writing ──▶ idle
 *      │           └──▶ unreadable      ▲                 ▲
 *      └── a create ────────────────────┴── or open ──────┘
 *
 * In a shared store, a flush that decided nothing to write goes through `checking`: the store is asked whether the task
 * in memory is up to date. If it is, the callers are answered. Otherwise the task is read and everything is decided
 * again.
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
  /** `task` is what the store has, and no command waits. */
  | 'idle'
  /** A create was decided ahead of its commit. Commands are decided as they come and join its plan. */
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
  /** The task in the store. Undefined: it does not exist, or was not read. */
  task: Task | undefined
  row: TaskRow | undefined
  snapshotSeq: number
  /** The version in the store's answer to a conflicting commit. A log that ends before it is incomplete. */
  storedVersion: number
  /** The version that another process reported. 0 when the store was read since. */
  heardVersion: number
  /** The store has lost writes since the read, the check or the commit under way began. The task is read again afterwards. */
  stale: boolean
  /** Approximate bytes of `task`. */
  bytes: number
  /** Present while `loading`. */
  loading: Promise<void> | undefined
  /** Present while `open` or `writing`: the commit to write. */
  plan: Plan | undefined
  /** Commands that are not decided yet. */
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

/** No command, read or commit is in progress, so the entry may leave memory. */
export function isSettled({ phase }: TaskEntry): boolean {
  return settled[phase]
}

/** The create is decided, and the store does not have it yet. */
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

/** The store has lost writes. What is under way for the entry ends without it. */
export function forgetUnderWay(entry: TaskEntry): void {
  entry.storedVersion = 0
  // A decision on no task is checked, and is made again after the task was read.
  if (entry.phase === 'queued') forget(entry)
  else entry.stale = true
}

export function unreadableError({ id, task }: TaskEntry): LullError {
  const why = task?.suspension?.summary ?? 'its log cannot be read'
  return new LullError('TASK_UNREADABLE', { taskId: id, why })
}
