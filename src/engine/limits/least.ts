/** The smallest of the numbers. Infinite when there is none. There may be more than a call has arguments. */
export function least(numbers: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const one of numbers) smallest = Math.min(smallest, one)
  return smallest
}
