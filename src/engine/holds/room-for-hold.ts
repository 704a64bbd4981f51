/**
 * How many holds the operators of one tenant may have in effect. Every process keeps all of them in memory, and applies them
 * again at its start. The hold of a rule does not count: a rule has one at a time, and the number of rules is limited.
 */
import type { Hold } from '../../ports/store/holds.ts'
import type { EngineOptions } from '../options.ts'
import { checkNumber } from '../policies/policy-limits.ts'

/** @throws LullError `LIMIT_EXCEEDED` when there is no room for the hold */
export function checkRoomForHold(
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
