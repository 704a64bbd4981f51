/** Runs the manifest against one target, one case after the other, on every lane the case names. */
import type { V03Rest } from '../dialects/rest.ts'
import type { Case, Lane, Profile, Result } from '../model.ts'
import { MANIFEST } from '../requirements/index.ts'
import { runCase } from './run-case.ts'
import { discover } from './target.ts'

export interface RunOptions {
  readonly profile?: Profile
  /** Only the cases with one of these ids (or `id#variant`). */
  readonly only?: readonly string[]
  readonly lanes?: readonly string[]
  /** How the bodies of 0.3 over REST are written. */
  readonly v03Rest?: V03Rest
  readonly onResult?: (result: Result) => void
}

export function keyOf({ id, variant }: Case): string {
  return variant === undefined ? id : `${id}#${variant}`
}

export function lanesOf(item: Case): readonly Lane[] {
  return item.versions.flatMap((version) =>
    item.bindings.map((binding): Lane => `${version}/${binding}`),
  )
}

export async function run(url: string, options: RunOptions = {}): Promise<readonly Result[]> {
  const { profile = '1.0.1', only, lanes, v03Rest, onResult } = options
  const target = await discover(url, v03Rest)
  const results: Result[] = []
  for (const item of MANIFEST) {
    if (only !== undefined && !only.includes(item.id) && !only.includes(keyOf(item))) continue
    if (item.profiles !== undefined && !item.profiles.includes(profile)) continue
    for (const lane of lanesOf(item)) {
      if (lanes !== undefined && !lanes.includes(lane)) continue
      const result = await runCase(target, item, lane, profile)
      results.push(result)
      onResult?.(result)
    }
  }
  return results
}
