/** Runs one case on one lane. */
import type { Case, Lane, Profile, Result, Version } from '../model.ts'
import { Skipped } from './outcome.ts'
import { closeRun, openRun, performStep } from './run-steps.ts'
import { NEEDS, type Target } from './target.ts'

export async function runCase(
  target: Target,
  item: Case,
  lane: Lane,
  profile: Profile,
): Promise<Result> {
  const startedAt = performance.now()
  const done = (status: Result['status'], reason = ''): Result => ({
    key: item.variant === undefined ? item.id : `${item.id}#${item.variant}`,
    case: item,
    lane,
    status,
    reason,
    ms: performance.now() - startedAt,
  })
  const whyNot = inapplicable(target, item, lane)
  if (whyNot !== undefined) return done('skip', whyNot)
  const run = openRun(target, lane, profile)
  try {
    for (const step of item.steps) await performStep(run, step)
    return done('pass')
  } catch (error) {
    if (error instanceof Skipped) return done('skip', error.message)
    const problem = error instanceof Error ? error.message : String(error)
    // A server may leave out a MAY requirement.
    return item.level === 'MAY' ? done('skip', `not offered: ${problem}`) : done('fail', problem)
  } finally {
    await closeRun(run)
  }
}

function inapplicable(target: Target, item: Case, lane: Lane): string | undefined {
  if (item.excluded !== undefined) return item.excluded
  const version = lane.split('/')[0] as Version
  if (!lane.endsWith('/card') && !target.endpoints.has(lane)) return `the card offers no ${lane}`
  const card = target.cards[version] ?? target.cards['1.0']
  for (const need of item.needs ?? []) {
    if (!NEEDS[need].met(target, card)) return NEEDS[need].says
  }
  return undefined
}
