/**
 * What a run asks before a function of the author begins that may have effects: whether the budgets of the task allow it
 * (K1 of `policies/check-budgets.ts`), and whether this process may execute it (C3 and C8 of `cluster/membership.ts`).
 */
import { isLullError } from '../../core/errors.ts'
import { type During, notBegun, type Scope } from './gate.ts'
import type { OperationScope } from './operation.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles } from './run-writer.ts'

const RETRY_MS = 1_000

/**
 * How a function of the author passes the gate: it begins only when `mayExecute` says so. Where it has to wait, it leaves
 * the gate and comes back, so that what the process reads meanwhile, for example a hold, keeps it there.
 * @param calls whether the work calls such a function
 */
export function allowedDuring(
  core: RunCore,
  scope: OperationScope,
  key: string,
  during: During,
  calls: () => boolean = () => true,
): During {
  return async (work) => {
    for (;;) {
      let allowed: Promise<void> | undefined
      const done = await during(async () => {
        if (!calls()) return work()
        // Values that the function may have seen (now, uuid, random) are durable before it acts on them.
        await core.flush()
        // The task was canceled or lost while the function waited.
        if (core.dead) return neverSettles()
        allowed = core.host.mayExecute(key)
        return allowed === undefined ? work() : notBegun
      })
      if (done !== notBegun) return done
      await core.gate.whileWaiting(async () => allowed)
      if (core.dead) return neverSettles()
      // The gate admits work inside a step that was interrupted meanwhile.
      scope.inside?.signal.throwIfAborted()
      // The process may have read new budgets, too.
      if (scope.inside === undefined) await checkBudgets(core)
    }
  }
}

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

/**
 * The result of an agent's function (`digest`, `compact`), or a default value if the function fails. The failure is
 * logged and not thrown. The caller records the result, so a rebuilt run does not call the function again.
 */
export async function orDefault<T>(
  { host, taskId }: Pick<RunCore, 'host' | 'taskId'>,
  name: 'digest' | 'compact',
  make: () => Promise<T>,
  makeDefault: () => Promise<T> | T,
): Promise<T> {
  try {
    return await make()
  } catch (error) {
    host.log('error', `the agent's ${name} failed; the default takes its place`, { taskId, error })
    return makeDefault()
  }
}
