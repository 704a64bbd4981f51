/**
 * What must hold in every simulated history. For tests only.
 *
 *  S1  the numbers of a log are dense, and no record changes once it was read;
 *  S2  an acknowledged command is in the log, once;
 *  S3  no process starts a step of a task that another process has taken over;
 *  S4  the row of a task is what its log says;
 *  S5  the result of a step is recorded once per key;
 *  S6  an event wakes a task at most once;
 *  S7  a reader gets every record once, in order;
 *  S8  without faults, every task that is woken ends;
 *  S9  a key means one task;
 *  S10 after a hold of everything was answered, no process begins a step of a task that it holds;
 *  S11 nothing is woken before its deadline by the clock of the store, and records have its times;
 *  S12 a step that is recorded does not begin again;
 *  S13 nothing comes back of a task that was removed;
 *  S14 an imported task is there once, and begins no step under the hold of its import.
 */

import { isLullError } from '../../../core/errors.ts'
import type { LogRecord } from '../../../core/records.ts'
import { keyIn } from '../../../testing/key-in.ts'
import type { ClusterHarness } from '../cluster-harness.ts'
import type { Harness } from '../engine-harness.ts'
import { createCommandChecks } from './command-checks.ts'
import { createLogChecks } from './log-checks.ts'
import { createReaderChecks } from './reader-checks.ts'
import type { StepBegins } from './scripted-agent.ts'
import { createStepChecks } from './step-checks.ts'

export interface Checks {
  /** @returns a function to call when a step of a new process begins */
  process(): StepBegins
  /** A call that may be refused. Any other error fails the history. */
  track(call: Promise<unknown>): void
  sent(taskId: string, key: string | undefined): void
  paused(taskId: string, handle: string): void
  resumed(taskId: string, handle: string): void
  followedUp(taskId: string, messageId: string): void
  held(holdId: string, holdNew: boolean): void
  lifting(holdId: string): void
  /** The store has lost its last writes: what was seen and acknowledged before may be gone, and leases were shorter. */
  failedOver(): void
  /** Follows the task from its first record. */
  read(process: Harness, taskId: string): void
  logs(taskIds: Iterable<string>): Promise<void>
  end(taskIds: Iterable<string>): Promise<void>
}

export interface CheckDeps {
  readonly log: (taskId: string) => Promise<readonly LogRecord[]>
  readonly fail: (problem: string) => void
}

export function createChecks({ store, clock }: Pick<ClusterHarness, 'store' | 'clock'>): Checks {
  const problems: string[] = []
  const deps: CheckDeps = {
    log: async (taskId) => store.records(...(await keyIn(store, taskId)), 0, 10_000),
    fail: (problem) => {
      problems.push(problem)
    },
  }
  const steps = createStepChecks(deps)
  const { end: endCommands, ...commands } = createCommandChecks(deps)
  const readers = createReaderChecks(deps)
  const { checkTask, failedOver } = createLogChecks(deps, store, clock.now)

  function raise(): void {
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  async function logs(taskIds: Iterable<string>): Promise<void> {
    for (const taskId of taskIds) await checkTask(taskId)
    raise()
  }

  return {
    ...steps,
    ...commands,
    track(call) {
      call.catch((error: unknown) => {
        if (!isLullError(error)) deps.fail(`a call failed: ${String(error)}`)
      })
    },
    read: readers.read,
    failedOver() {
      for (const part of [steps, commands, readers]) part.failedOver()
      failedOver()
    },
    logs,
    async end(taskIds) {
      await logs(taskIds)
      await endCommands()
      readers.end()
      raise()
    },
  }
}
