/** Calls `visit` for each of them, at most `most` at a time. */
export async function atOnce<T>(
  most: number,
  those: Iterable<T>,
  visit: (one: T) => Promise<void>,
): Promise<void> {
  const rest = those[Symbol.iterator]()
  async function next(): Promise<void> {
    for (let one = rest.next(); !one.done; one = rest.next()) await visit(one.value)
  }
  await Promise.all(Array.from({ length: most }, next))
}
