/**
 * The smallest of the numbers; infinite when there are none. Unlike `Math.min` it takes any number
 * of them.
 */
export function least(numbers: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const one of numbers) smallest = Math.min(smallest, one)
  return smallest
}
