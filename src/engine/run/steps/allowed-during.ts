import { type During, notBegun } from '../gate.ts'
import type { OperationScope } from '../operation-scope.ts'
import { checkBudgets } from '../outputs/budget-gate.ts'
import type { RunCore } from '../run-core.ts'
import { neverSettles } from '../run-writer.ts'

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
