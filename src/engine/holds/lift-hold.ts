/** Lifts a hold: durably first, then from every task that it stopped (H1, H4). */
import { LullError } from '../../core/errors.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { id } from '../input/primitives.ts'
import type { OperatorVerb } from '../requests/verb.ts'
import type { ActiveHolds } from './active-holds.ts'
import { liftTasks } from './held-tasks.ts'
import { isOwner, maySeeScope } from './hold-scope.ts'

export interface LiftAnswer {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

export const liftVerb: OperatorVerb<'lift'> = {
  capability: 'holds',
  scope: 'ops:control',
  input: id,
  audited: { action: 'hold.lift' },
  method: ({ holds }) => holds.lift,
}

export type LiftHold = (caller: Caller, holdId: string) => Promise<LiftAnswer>

export function createLiftHold(
  context: EngineContext,
  active: ActiveHolds,
  isShared: boolean,
): LiftHold {
  async function liftActive(caller: Caller, hold: Hold): Promise<LiftAnswer> {
    await context.store.putHold({ ...hold, liftedAt: context.clock.now() })
    active.remove(hold.id)
    await active.refresh()
    // After this, every task whose create was decided under the hold is in the store.
    await context.ledger.createsSettled()
    try {
      return { holdId: hold.id, tasks: await liftTasks(context, hold, caller.principal) }
    } catch (error) {
      // The hold counts as in effect again, because some tasks are still held. Lifting it once more
      // reaches them.
      active.add(hold)
      throw error
    }
  }

  /**
   * Completes a lift that failed half-way in another process of a shared store. It is found in the
   * store only. Undefined when no task has the hold.
   */
  async function liftRest(caller: Caller, holdId: string): Promise<LiftAnswer | undefined> {
    if (!isShared) return undefined
    const hold = (await context.store.holds(true)).find(({ id }) => id === holdId)
    if (hold === undefined || !maySeeScope(caller, hold)) return undefined
    checkOwner(caller, hold)
    const tasks = await liftTasks(context, hold, caller.principal)
    return tasks === 0 ? undefined : { holdId, tasks }
  }

  return async (caller, holdId) => {
    await active.refresh()
    const hold = active.get(holdId)
    if (hold !== undefined && maySeeScope(caller, hold)) {
      checkOwner(caller, hold)
      return liftActive(caller, hold)
    }
    const lifted = await liftRest(caller, holdId)
    if (lifted !== undefined) return lifted
    const problem = 'is not a hold that is in effect'
    throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
  }
}

function checkOwner(caller: Caller, hold: Hold): void {
  if (isOwner(caller, hold.owner)) return
  const problem = 'is a hold that only operators of all tenants lift'
  throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
}
