/**
 * The option `run_state`: suspend and resume with nothing but the protocol itself, also in the middle of a turn.
 *
 * Clients remember the value they chose last and send it again whenever they attach; taken literally, that would suspend
 * a session somebody else has woken since. So each value names the suspension it means, as `<task>.<epoch>`, and a value
 * that means an earlier one is accepted and changes nothing.
 */
import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import type { Task } from '../../../core/task.ts'

export const RUN_STATE = 'run_state'

export interface RunState {
  /** The task it is about; undefined where nothing runs. */
  readonly task: Task | undefined
  readonly running: string
  readonly suspended: string
  readonly isSuspended: boolean
}

/** @param count tasks the session has had: the number of the latest */
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

/** What a value asks for; `stale` one means a suspension of the past; undefined: it is none of ours. */
export function readRunState(
  value: unknown,
  { running, suspended, isSuspended }: RunState,
): 'suspend' | 'resume' | 'stale' | undefined {
  if (typeof value !== 'string' || !/^(running|suspended)-\d+\.\d+$/.test(value)) return undefined
  if (value === suspended && !isSuspended) return 'suspend'
  return value === running && isSuspended ? 'resume' : 'stale'
}
