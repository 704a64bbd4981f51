import type { IdSource } from '../ports/ids.ts'

/** UUIDs that count up, so that a test's ids are the same every time and sort in the order they were made. */
export function createCountingIds(): IdSource {
  let count = 0
  return {
    uuid: () => `00000000-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`,
    random: () => (count++ % 97) / 97,
  }
}
