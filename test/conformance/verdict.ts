/** Runs the manifest against a target and says what was not expected, in lines a person can read. */

import type { Profile, Result } from '../../conformance/model.ts'
import { type ExpectedFailure, judge } from '../../conformance/runner/expected-failures.ts'
import { line } from '../../conformance/runner/report.ts'
import { type RunOptions, run } from '../../conformance/runner/run.ts'

export interface Said {
  readonly results: readonly Result[]
  readonly unexpected: readonly string[]
  readonly stale: readonly string[]
}

export async function verdict(
  url: string,
  profile: Profile,
  expected: readonly ExpectedFailure[],
  options: Omit<RunOptions, 'profile'> = {},
): Promise<Said> {
  const results = await run(url, { ...options, profile })
  const { unexpected, stale } = judge(results, expected, profile)
  return {
    results,
    unexpected: unexpected.map(line),
    stale: stale.map(({ key, lanes }) => `${key} ${lanes?.join(', ') ?? ''} no longer fails`),
  }
}
