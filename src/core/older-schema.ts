/** The error text of a read-only program that finds a schema which it would have to migrate. */
export function olderSchema(
  what: string,
  applied: number,
  known: number,
  place: 'directory' | 'database',
): string {
  return (
    `${what} has the schema of an older version of Lull (schema ${applied}, this version needs ${known}), and is left as it is; ` +
    `read from the running server instead (--url), or copy the ${place} and read the copy with --migrate`
  )
}
