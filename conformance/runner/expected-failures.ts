/** Known failures of a target. An entry that no longer fails is an error: the list tells the truth or is changed. */
import type { Profile, Result } from '../model.ts'

export interface ExpectedFailure {
  /** `id` or `id#variant`. */
  readonly key: string
  /** On these lanes only; on every lane the case runs on when absent. */
  readonly lanes?: readonly string[]
  readonly profiles?: readonly Profile[]
  readonly reason: string
}

export interface Verdict {
  readonly unexpected: readonly Result[]
  readonly stale: readonly ExpectedFailure[]
}

export function judge(
  results: readonly Result[],
  expected: readonly ExpectedFailure[],
  profile: Profile,
): Verdict {
  const applying = expected.filter(({ profiles }) => !profiles || profiles.includes(profile))
  const covers = (entry: ExpectedFailure, result: Result): boolean =>
    entry.key === result.key && (entry.lanes === undefined || entry.lanes.includes(result.lane))
  const failed = results.filter(({ status }) => status === 'fail')
  return {
    unexpected: failed.filter((result) => !applying.some((entry) => covers(entry, result))),
    // Every lane an entry names has to fail, not just one of them.
    stale: applying.filter((entry) => {
      const touched = results.filter((result) => covers(entry, result))
      return touched.length === 0 || touched.some(({ status }) => status === 'pass')
    }),
  }
}
