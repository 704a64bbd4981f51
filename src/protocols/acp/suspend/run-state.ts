/**
 * The session option `run_state`: it suspends and resumes with the standard methods of ACP alone,
 * also while a prompt runs.
 *
 * Clients remember the last value and send it again when they attach, which must not suspend a
 * session that was resumed meanwhile. So each value names one suspension as `<task>.<epoch>`, and a
 * value of an earlier suspension is accepted and changes nothing.
 */
import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import type { Task } from '../../../core/task.ts'

export const RUN_STATE = 'run_state'

export interface RunState {
  /** The running task, if any. */
  readonly task: Task | undefined
  readonly running: string
  readonly suspended: string
  readonly isSuspended: boolean
}

/**
 * @param count the number of tasks that the session has had, which is the number of the latest one
 */
export function runStateOf(
  open: readonly Task[],
  count: number,
  latest: Task | undefined,
): RunState {
  const own = open.filter(({ parentId }) => parentId === undefined)
  const task = own.findLast(({ suspension }) => suspension !== undefined) ?? own.at(-1)
  const isSuspended = task?.suspension !== undefined
  const epoch = (task ?? latest)?.epoch ?? 0
  return {
    task,
    running: `running-${count}.${epoch}`,
    suspended: `suspended-${count}.${isSuspended ? epoch : epoch + 1}`,
    isSuspended,
  }
}

export function runStateOption({ running, suspended, isSuspended }: RunState): SessionConfigOption {
  return {
    type: 'select',
    id: RUN_STATE,
    name: 'Run state',
    description: 'Suspend the session without losing its place, and resume it',
    category: '_execution',
    currentValue: isSuspended ? suspended : running,
    options: [
      { value: running, name: isSuspended ? 'Resume' : 'Running' },
      { value: suspended, name: isSuspended ? 'Suspended' : 'Suspend' },
    ],
  }
}

/**
 * What a value asks for. `stale`: it names an earlier suspension. Undefined: it is not a valid
 * value of the option.
 */
export function readRunState(
  value: unknown,
  { running, suspended, isSuspended }: RunState,
): 'suspend' | 'resume' | 'stale' | undefined {
  if (typeof value !== 'string' || !/^(running|suspended)-\d+\.\d+$/.test(value)) return undefined
  if (value === suspended && !isSuspended) return 'suspend'
  return value === running && isSuspended ? 'resume' : 'stale'
}
