import type { Row } from '../connection/database.ts'

/** Groups the rows by the text in a column. Their order is kept. */
export function groupedBy(
  rows: readonly Row[],
  column: string,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = String(row[column])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
