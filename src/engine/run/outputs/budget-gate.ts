/** Where a run asks whether the budgets of its task allow it to go on (K1 of `policies/check-budgets.ts`). */
import { isLullError } from '../../../core/errors.ts'
import type { Scope } from '../gate.ts'
import type { RunCore } from '../run-core.ts'
import { neverSettles } from '../run-writer.ts'

const RETRY_MS = 1_000

/** Asks before an operation. Resolves when the operation may start. Undefined when no budget covers the task. */
export function withinBudgets(core: RunCore, scope: Scope): Promise<void> | undefined {
  const checked = checkBudgets(core)
  return checked?.then(() => goOn(core, scope))
}

/** A task that was stopped is asked again when it goes on, because it may have another budget by then. */
async function goOn(core: RunCore, scope: Scope): Promise<void> {
  // Each round waits at a gate that is shut. Inside a turn the gate can admit an operation while a pause is under way.
  while (!core.gate.admits(scope)) {
    await core.gate.during(scope, () => undefined)
    await checkBudgets(core)
  }
}

/** Stops the task if a budget is used up. Undefined when no budget covers the task. */
export function checkBudgets(core: RunCore): Promise<void> | undefined {
  const { host } = core
  const checking = host.checkBudgets(core.task)
  return checking?.catch(async (error: unknown) => {
    if (core.dead) return neverSettles()
    if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
    await new Promise<void>((resolve) => {
      host.clock.after(RETRY_MS, resolve)
    })
    return core.dead ? neverSettles() : checkBudgets(core)
  })
}
