/** Places a hold: it is stored first, then it stops every task in its scope. */
import type { Hold } from '../../ports/store/holds.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { holdInput } from '../input/inputs.ts'
import { parse } from '../input/parse.ts'
import type { HoldRequest } from '../input/requests.ts'
import type { ActiveHolds } from './active-holds.ts'
import { holdTasks, liftTasks, type TaskOutcome } from './held-tasks.ts'
import { ownerFor, withinTenantOf } from './hold-scope.ts'
import { checkRoomForHold } from './room-for-hold.ts'
import { createStoreHold } from './store-hold.ts'

export interface HoldAnswer {
  readonly holdId: string
  /** One per task, sorted by id. */
  readonly outcomes: readonly TaskOutcome[]
}

/** A hold that is in effect. */
export interface PlacedHold {
  readonly hold: Hold
  /** The call has placed it. False: the same hold was there. */
  readonly isNew: boolean
}

export interface PlaceHold {
  /** @throws LullError `LIMIT_EXCEEDED` when the operators of the tenant have too many holds, or these name too many tasks */
  hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer>
  /** Places a hold for tasks that do not exist yet. It is durable, and stops nothing. */
  holdAhead(caller: Caller, request: HoldRequest): Promise<PlacedHold>
  /**
   * Places the hold that a rule asks for, with the id that the rule and its cause have. Once, also after it was lifted.
   * While another hold of the rule is in effect, nothing is placed.
   * @param causedAt when the cause came; a hold of the rule that was lifted later has answered it
   */
  holdByRule(hold: Hold, causedAt?: number): Promise<void>
}

/** @param everywhere in a shared store: resolves when no process starts an operation of a task that is held */
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

  /** Decides on the holds that are in effect, and again when they have changed before the decision was written (H5). */
  async function place(
    choose: () => Hold | Promise<Hold | undefined>,
    principal: string,
  ): Promise<HoldAnswer | undefined> {
    for (;;) {
      await active.refresh()
      const epoch = active.epoch()
      const chosen = choose()
      // A hold that is known at once is applied at once, so that two equal requests are one hold.
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

/** Undefined when another hold of the rule is in effect, or one that was lifted has answered the cause. */
async function holdToPlace(
  { store }: EngineContext,
  active: ActiveHolds,
  hold: Hold,
  causedAt: number,
): Promise<Hold | undefined> {
  const inEffect = active.all().filter((one) => isOfRule(one, hold.actor.id))
  if (inEffect.length > 0) return inEffect.find(({ id }) => id === hold.id)
  // Read only where a hold is about to be placed. Each hold of the rule that is found was lifted by an operator.
  const lifted = (await store.holds(true)).filter((one) => isOfRule(one, hold.actor.id))
  const isAnswered = lifted.some(({ id, liftedAt = 0 }) => id === hold.id || liftedAt > causedAt)
  return isAnswered ? undefined : hold
}

function newHold({ ids, clock }: EngineContext, caller: Caller, request: HoldRequest): Hold {
  const { scope, reason, holdNew = false } = parse(holdInput, request)
  return {
    id: `hold-${ids.uuid()}`,
    owner: ownerFor(caller),
    scope: withinTenantOf(caller, scope),
    reason,
    holdNew,
    actor: { kind: 'operator', id: caller.principal },
    createdAt: clock.now(),
  }
}

function isOfRule({ actor }: Hold, ruleId: string): boolean {
  return actor.kind === 'policy' && actor.id === ruleId
}

/** Holds that differ in anything are apart, because each is lifted by itself. */
function isSameHold(a: Hold, b: Hold): boolean {
  const facts = (hold: Hold): unknown => {
    const { scope, holdNew, reason, actor } = hold
    return [hold.owner, actor.kind, actor.id, scope, holdNew, reason]
  }
  return JSON.stringify(facts(a)) === JSON.stringify(facts(b))
}

/** A new hold cannot find a task already held by it, except a task that was created under it. */
function asNew(found: TaskOutcome): TaskOutcome {
  return found.outcome === 'already_held' ? { ...found, outcome: 'held' } : found
}
