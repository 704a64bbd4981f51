/**
 * Hashes, and the comparison of secrets. The hash function of everything that Lull stores: receipts, consent digests and derived keys. It
 * is part of the format, so it is one function and never injected: logs written with one hash
 * cannot be compared using another.
 * Node's `hash` is synchronous and pure. It is the only part of Node that `core` uses.
 */

import { hash } from 'node:crypto'

/** SHA-256 of the text in UTF-8, hex. */
export function sha256(text: string): string {
  return hash('sha256', text)
}

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
