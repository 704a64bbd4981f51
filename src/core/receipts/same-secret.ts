/** Compares in a time that does not depend on where the texts differ, so that answers do not help to guess one. */
export function sameSecret(given: string, expected: string | undefined): boolean {
  if (expected === undefined) return false
  let difference = given.length ^ expected.length
  for (let index = 0; index < given.length; index++) {
    // Beyond the end of `expected` the comparison is with 0, which costs the same.
    difference |= given.charCodeAt(index) ^ (expected.charCodeAt(index) | 0)
  }
  return difference === 0
}
