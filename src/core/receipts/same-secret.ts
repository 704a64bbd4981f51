/**
 * Compares two secrets in a time that does not depend on where they differ, so that response times
 * reveal nothing.
 */
export function sameSecret(given: string, expected: string | undefined): boolean {
  if (expected === undefined) return false
  let difference = given.length ^ expected.length
  for (let index = 0; index < given.length; index++) {
    // Past the end of `expected` the comparison is with 0, which takes the same time.
    difference |= given.charCodeAt(index) ^ (expected.charCodeAt(index) | 0)
  }
  return difference === 0
}
