import type { IdSource } from '../ports/ids.ts'

/** Creates UUIDs that count up: the same in every test run, and sorted in the order of creation. */
export function createCountingIds(): IdSource {
  let count = 0
  return {
    uuid: () => `00000000-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`,
    random: () => (count++ % 97) / 97,
  }
}
