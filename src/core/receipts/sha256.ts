/**
 * The hash of everything that Lull writes down: receipts, digests of what was consented to, keys that are derived. It is a
 * format, so it is one function and no dependency. Logs written with one hash cannot be compared with another one.
 *
 * `hash` of Node is synchronous and depends on nothing but its argument. It is the only part of Node that `core` uses.
 */
import { hash } from 'node:crypto'

/** SHA-256 of the text in UTF-8, hex. */
export function sha256(text: string): string {
  return hash('sha256', text)
}
