/**
 * The hash function of everything that Lull stores: receipts, consent digests and derived keys. It is part
 * of the format, so it is one function and never injected: logs written with one hash cannot be compared using another.
 * Node's `hash` is synchronous and pure. It is the only part of Node that `core` uses.
 */

import { hash } from 'node:crypto'

/** SHA-256 of the text in UTF-8, hex. */
export function sha256(text: string): string {
  return hash('sha256', text)
}
