/** `/ops/holds`: stop many tasks at once, preview the effect, and lift a hold. */
import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import { toIso } from '../../core/values/instant.ts'
import type { Engine } from '../../engine/engine.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import type { HoldSummary } from '../../wire/ops/control.ts'
import { fromVerb, type OpsRoute, route } from './route.ts'

/** Ids of tasks that the list shows of each hold. */
const LISTED_IDS = 10

type Hold = Awaited<ReturnType<Engine['holds']>>[number]

const hold: z.ZodType<HoldSummary> = z.object({
  holdId: z.string(),
  /** In the list, `taskIds` has the first ids only. `GET /ops/holds/{id}` has all of them. */
  scope: z.record(z.string(), z.unknown()),
  /** The number of ids in `taskIds` of the scope, if it names tasks. */
  tasks: z.number().optional(),
  reason: z.string(),
  holdNew: z.boolean(),
  actor: z.object({ kind: z.string(), id: z.string() }),
  createdAt: z.iso.datetime(),
})

export const listHolds: OpsRoute = route('holds', {
  scope: 'ops:read',
  about: 'The holds in effect',
  answer: z.object({ holds: z.array(hold) }),
  handle: async (engine, caller) => ({
    holds: (await engine.holds(caller)).map((one) => shown(one, LISTED_IDS)),
  }),
})

export const showHold: OpsRoute = route('showHold', {
  scope: 'ops:read',
  about: 'One hold in effect, with the ids of all tasks that its scope names',
  answer: hold,
  async handle(engine, caller, { id }) {
    const found = (await engine.holds(caller)).find((one) => one.id === id)
    if (found !== undefined) return shown(found)
    throw new LullError('NOT_FOUND', { what: 'hold', id })
  },
})

export const placeHold: OpsRoute = route('hold', {
  ...fromVerb(operatorVerbs.hold),
  about: 'Stops every task in the scope, also tasks yet to come with `holdNew`',
  answer: z.object({
    holdId: z.string(),
    outcomes: z.array(
      z.object({
        taskId: z.string(),
        outcome: z.enum(['held', 'already_held', 'terminal', 'unknown']),
        /** Its running step was told to stop and has not ended yet. */
        pausing: z.literal(true).optional(),
        /** Steps that were told to stop before and did not. They may act although the task is held. */
        mayStillAct: z.array(z.string()).optional(),
      }),
    ),
  }),
  handle: (engine, caller, { body }) => engine.hold(caller, body),
})

export const liftHold: OpsRoute = route('lift', {
  scope: operatorVerbs.lift.scope,
  about: 'Lifts a hold: the tasks it stopped go on',
  answer: z.object({ holdId: z.string(), tasks: z.number() }),
  handle: (engine, caller, { id }) => engine.lift(caller, id),
})

export const previewHold: OpsRoute = route('previewHold', {
  ...fromVerb(operatorVerbs.previewHold),
  about: 'What a hold of this scope would stop',
  answer: z.object({
    tasks: z.number(),
    /** The number of these tasks per state. */
    states: z.record(z.string(), z.number()),
    alreadyHeld: z.number(),
    /** The ids of some of these tasks. */
    sample: z.array(z.string()),
  }),
  handle: (engine, caller, { body }) => engine.previewHold(caller, body),
})

/** @param mostIds of the tasks that the scope names */
function shown(
  { id, scope, reason, holdNew, actor, createdAt }: Hold,
  mostIds = Number.POSITIVE_INFINITY,
): HoldSummary {
  const named = 'taskIds' in scope ? scope.taskIds : undefined
  return {
    holdId: id,
    scope: { ...scope, ...(named && { taskIds: named.slice(0, mostIds) }) },
    ...(named && { tasks: named.length }),
    reason,
    holdNew,
    actor,
    createdAt: toIso(createdAt),
  }
}
