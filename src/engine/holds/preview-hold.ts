/** Counts the tasks that a hold would stop. Nothing is written. */
import { z } from 'zod'
import type { State } from '../../core/states.ts'
import type { HoldScope } from '../../ports/store/holds.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { holdScope } from '../input/hold-scope.ts'
import { check } from '../input/parse.ts'
import { reason } from '../input/primitives.ts'
import type { OperatorQuestion } from '../requests/verb.ts'
import { openRowsIn } from './held-tasks.ts'
import { withinTenantOf } from './hold-scope.ts'

/** The members of a hold. Only the scope counts. */
export interface HoldPreviewRequest {
  readonly scope: HoldScope
  readonly reason?: string | undefined
  readonly holdNew?: boolean | undefined
}

export interface HoldPreview {
  /** How many open tasks are in the scope. */
  readonly tasks: number
  /** How many of them are in each state. */
  readonly states: Readonly<Partial<Record<State, number>>>
  readonly alreadyHeld: number
  /** Ids of some of them. */
  readonly sample: readonly string[]
}

const previewInput = z.strictObject({
  scope: holdScope,
  reason: reason.optional(),
  holdNew: z.boolean().optional(),
} satisfies FieldsOf<HoldPreviewRequest>)

export const previewHoldVerb: OperatorQuestion<'previewHold'> = {
  capability: 'holds',
  scope: 'ops:read',
  input: previewInput,
  method:
    ({ context }) =>
    (caller, request) =>
      previewHold(context, caller, request),
}

const SAMPLE = 10

async function previewHold(
  context: Pick<EngineContext, 'store'>,
  caller: Caller,
  request: HoldPreviewRequest,
): Promise<HoldPreview> {
  const scope: HoldScope = withinTenantOf(caller, check(previewInput, request).scope)
  const states: Partial<Record<State, number>> = {}
  const sample: string[] = []
  let [tasks, alreadyHeld] = [0, 0]
  for await (const rows of openRowsIn(context, scope)) {
    for (const { id, state, held } of rows) {
      tasks++
      if (held) alreadyHeld++
      states[state] = (states[state] ?? 0) + 1
      if (sample.length < SAMPLE) sample.push(id)
    }
  }
  return { tasks, states, alreadyHeld, sample }
}
