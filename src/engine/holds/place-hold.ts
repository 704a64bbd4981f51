/** Places a hold: it is stored first, then it stops every task in its scope. */

import { z } from 'zod'
import type { Hold, HoldScope } from '../../ports/store/holds.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { holdScope } from '../input/hold-scope.ts'
import { check } from '../input/parse.ts'
import { reason } from '../input/primitives.ts'
import type { EngineOptions } from '../options.ts'
import { checkNumber } from '../policies/budgets.ts'
import type { OperatorVerb } from '../requests/verb.ts'
import type { ActiveHolds } from './active-holds.ts'
import { holdTasks, liftTasks, type TaskOutcome } from './held-tasks.ts'
import { ownerFor, withinTenantOf } from './hold-scope.ts'

export interface HoldRequest {
  readonly scope: HoldScope
  readonly reason: string
  /** Also hold tasks that are created later. */
  readonly holdNew?: boolean | undefined
}

export const holdVerb: OperatorVerb<'hold'> = {
  capability: 'holds',
  scope: 'ops:control',
  input: z.strictObject({
    scope: holdScope,
    reason: reason.min(1),
    holdNew: z.boolean().optional(),
  } satisfies FieldsOf<HoldRequest>),
  audited: { action: 'hold.place', targetOf: ({ holdId }) => holdId },
  method: ({ holds }) => holds.hold,
}

export interface HoldAnswer {
  readonly holdId: string
  /** One outcome per task, sorted by task id. */
  readonly outcomes: readonly TaskOutcome[]
}

/** A hold that is in effect. */
export interface PlacedHold {
  readonly hold: Hold
  /** True if this call placed the hold, false if the same hold existed. */
  readonly isNew: boolean
}

export interface PlaceHold {
  /** @throws LullError `LIMIT_EXCEEDED` when the operators of the tenant have too many holds, or these name too many tasks */
  hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer>
  /**
   * Places a hold that stops no existing task, for tasks that do not exist yet. It is durable when
   * the call resolves.
   */
  holdAhead(caller: Caller, request: HoldRequest): Promise<PlacedHold>
  /**
   * Places the hold of a rule, with an id derived from the rule and its cause. A hold is placed
   * once per id, even if it was lifted, and not while another hold of the rule is in effect.
   * @param causedAt the instant of the cause; nothing is placed if a hold of the rule was lifted
   * after it
   */
  holdByRule(hold: Hold, causedAt?: number): Promise<void>
}

/**
 * @param everywhere in a shared store: resolves when no process will start an operation of a held
 * task
 */
export function createPlaceHold(
  context: EngineContext,
  active: ActiveHolds,
  everywhere: () => Promise<void> = async () => undefined,
): PlaceHold {
  const store = createStoreHold(context, active)

  /** @returns one outcome per task, sorted by id; undefined when the hold must be decided again */
  async function apply(
    hold: Hold,
    principal: string,
    epoch: number,
  ): Promise<readonly TaskOutcome[] | undefined> {
    const outcomes = await active.whileApplying(hold, async () => {
      if (!(await store(hold, epoch))) return undefined
      await context.ledger.createsSettled()
      return holdTasks(context, hold)
    })
    if (outcomes === undefined) return undefined
    await everywhere()
    await active.refresh()
    // Another call lifted the hold while this one applied it.
    if (!active.has(hold.id)) await liftTasks(context, hold, principal)
    return [...outcomes].sort((a, b) => (a.taskId < b.taskId ? -1 : 1))
  }

  /**
   * Decides with the holds in effect, and again if they have changed before the hold was written
   * (H5).
   */
  async function place(
    choose: () => Hold | Promise<Hold | undefined>,
    principal: string,
  ): Promise<HoldAnswer | undefined> {
    for (;;) {
      await active.refresh()
      const epoch = active.epoch()
      const chosen = choose()
      // Awaits only a promise: a hold that is known at once is applied in the same turn, so that
      // two equal requests yield one hold.
      const hold = chosen instanceof Promise ? await chosen : chosen
      if (hold === undefined) return undefined
      const outcomes = await apply(hold, principal, epoch)
      if (outcomes !== undefined) return { holdId: hold.id, outcomes }
    }
  }

  function sameAs(wanted: Hold): Hold {
    const known = active.all()
    const same = known.find((hold) => isSameHold(hold, wanted))
    if (same === undefined) checkRoomForHold(known, wanted, context.options)
    return same ?? wanted
  }

  return {
    async hold(caller, request) {
      const wanted = newHold(context, caller, request)
      const placed = await place(() => sameAs(wanted), caller.principal)
      const { holdId, outcomes } = placed ?? { holdId: wanted.id, outcomes: [] }
      return { holdId, outcomes: holdId === wanted.id ? outcomes.map(asNew) : outcomes }
    },
    async holdAhead(caller, request) {
      const wanted = newHold(context, caller, request)
      for (;;) {
        await active.refresh()
        const hold = sameAs(wanted)
        if (await store(hold, active.epoch())) return { hold, isNew: hold === wanted }
      }
    },
    async holdByRule(hold, causedAt = Infinity) {
      await place(() => holdToPlace(context, active, hold, causedAt), hold.actor.id)
    },
  }
}

/**
 * The hold to place for a rule. Undefined when another hold of the rule is in effect, or when an
 * operator has lifted one since the cause.
 */
async function holdToPlace(
  { store }: EngineContext,
  active: ActiveHolds,
  hold: Hold,
  causedAt: number,
): Promise<Hold | undefined> {
  const inEffect = active.all().filter((one) => isOfRule(one, hold.actor.id))
  if (inEffect.length > 0) return inEffect.find(({ id }) => id === hold.id)
  // Reads lifted holds only if a hold is about to be placed. Each hold of the rule that is found
  // here was lifted by an operator.
  const lifted = (await store.holds(true)).filter((one) => isOfRule(one, hold.actor.id))
  const isAnswered = lifted.some(({ id, liftedAt = 0 }) => id === hold.id || liftedAt > causedAt)
  return isAnswered ? undefined : hold
}

function newHold({ ids, clock }: EngineContext, caller: Caller, request: HoldRequest): Hold {
  const { scope, reason, holdNew = false } = check(holdVerb.input, request)
  return {
    id: `hold-${ids.uuid()}`,
    owner: ownerFor(caller),
    scope: withinTenantOf(caller, scope),
    reason,
    holdNew,
    actor: actorOf(caller),
    createdAt: clock.now(),
  }
}

function isOfRule({ actor }: Hold, ruleId: string): boolean {
  return actor.kind === 'policy' && actor.id === ruleId
}

/** Holds that differ in any member are different holds, because each is lifted by itself. */
function isSameHold(a: Hold, b: Hold): boolean {
  const facts = (hold: Hold): unknown => {
    const { scope, holdNew, reason, actor } = hold
    return [hold.owner, actor.kind, actor.id, scope, holdNew, reason]
  }
  return JSON.stringify(facts(a)) === JSON.stringify(facts(b))
}

/**
 * For a new hold, `already_held` can only mean that the task was created under it, so it is
 * reported as `held`.
 */
function asNew(found: TaskOutcome): TaskOutcome {
  return found.outcome === 'already_held' ? { ...found, outcome: 'held' } : found
}

/**
 * Stores the hold. Embedded store: new tasks are created under the hold even before it is durable,
 * so that none is missed. Shared store: the hold is written first, so that no process finds a task
 * under an unknown hold, and creates that were decided earlier are refused.
 * @param epoch the epoch of the holds on which the hold was decided (H5)
 * @returns false when the holds have changed since, and the hold must be decided again
 */
type StoreHold = (hold: Hold, epoch: number) => Promise<boolean>

function createStoreHold(context: EngineContext, active: ActiveHolds): StoreHold {
  /** Writes in progress, by hold id. */
  const writes = new Map<string, Promise<void>>()

  async function store(hold: Hold, epoch: number): Promise<boolean> {
    const { cluster } = context.store
    if (cluster !== undefined) {
      if (!active.has(hold.id) && !(await cluster.putHoldAt(hold, epoch))) return false
      await active.refresh()
      return true
    }
    if (!active.has(hold.id)) {
      active.add(hold)
      writes.set(hold.id, context.store.putHold(hold))
    }
    try {
      await writes.get(hold.id)
      return true
    } catch (error) {
      active.remove(hold.id)
      await undo(hold)
      throw error
    } finally {
      writes.delete(hold.id)
    }
  }

  /**
   * Lifts a hold that could not be stored from tasks created under it. Tasks that this misses are
   * lifted at the next start.
   */
  async function undo(hold: Hold): Promise<void> {
    try {
      await context.ledger.createsSettled()
      await liftTasks(context, hold, hold.actor.id)
    } catch (error) {
      const text = 'tasks are held by a hold that could not be stored'
      context.log('error', text, { holdId: hold.id, error })
    }
  }

  return store
}

/**
 * How many holds the operators of one tenant may have in effect. Every process keeps all of them in memory, and applies them
 * again at its start. The hold of a rule does not count: a rule has one at a time, and the number of rules is limited.
 *
 * @throws LullError `LIMIT_EXCEEDED` when there is no room for the hold
 */
function checkRoomForHold(
  known: readonly Hold[],
  wanted: Hold,
  { holds, heldTaskIds }: Pick<EngineOptions, 'holds' | 'heldTaskIds'>,
): void {
  const own = known.filter(({ owner, actor }) => owner === wanted.owner && actor.kind !== 'policy')
  checkNumber('holds of the tenant', holds, own.length)
  const named = own.reduce((sum, hold) => sum + idsIn(hold), 0)
  // A hold that names no tasks never exceeds the limit of named tasks.
  if (idsIn(wanted) > 0) {
    checkNumber('heldTaskIds of the tenant', heldTaskIds, named + idsIn(wanted) - 1)
  }
}

function idsIn({ scope }: Hold): number {
  return 'taskIds' in scope ? scope.taskIds.length : 0
}
