/** What a program that only reads says about a schema that it would have to bring up to date. */
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
