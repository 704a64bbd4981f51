/** A signed record that a stop, a wake or a drain decision happened (`receipts.ts` makes and checks them). */
import type { Json } from './json.ts'

export type ReceiptKind = 'SuspensionReceipt' | 'ResumptionReceipt' | 'DrainDecisionReceipt'

/** The whole receipt except its signature is signed: HMAC-SHA256 over RFC 8785 canonical JSON. */
export interface Receipt {
  readonly kind: ReceiptKind
  readonly taskId: string
  /** 1, 2, 3… within the task. */
  readonly number: number
  /** The hash of the receipt before it; empty for the first. */
  readonly previous: string
  readonly at: number
  readonly facts: { readonly [fact: string]: Json }
  readonly keyId: string
  readonly signature: string
}

/** `unknown-key`: signed with a key that this process does not have. It may be genuine. */
export type SignatureVerdict = 'genuine' | 'wrong' | 'unknown-key'

export interface Signer {
  readonly keyId: string
  /** HMAC-SHA256 of the text, hex. */
  readonly sign: (text: string) => string
  /** SHA-256 of the text, hex. */
  readonly hash: (text: string) => string
  /** Compares in constant time. */
  readonly verify: (text: string, signature: string, keyId: string) => SignatureVerdict
}
