import type { Row } from '../connection/database.ts'

/** Groups the rows by a text. Their order is kept. */
export function groupedBy(
  rows: readonly Row[],
  textOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = textOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
