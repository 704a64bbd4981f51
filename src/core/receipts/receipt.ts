/** A signed record that a stop, a wake or a drain decision happened (`receipts.ts` makes them, `check-receipts.ts` checks them). */
import type { Json } from '../values/json.ts'

export type ReceiptKind =
  | 'SuspensionReceipt'
  | 'ResumptionReceipt'
  | 'DrainDecisionReceipt'
  | 'ImportReceipt'

/**
 * Everything except the two signatures is signed, as RFC 8785 canonical JSON: with HMAC-SHA256,
 * which the owner of the secret key can check, and with Ed25519, which anyone with the public key
 * can check.
 */
export interface Receipt {
  /** Absent for version 1, which has no `seq`, no `content` and no Ed25519 signature. */
  readonly version?: 2
  readonly kind: ReceiptKind
  readonly taskId: string
  /** 1, 2, 3… within the task. */
  readonly number: number
  /** The hash of the previous receipt; empty for the first. */
  readonly previous: string
  /** The number of the receipt's record in the log. */
  readonly seq?: number
  readonly at: number
  readonly facts: { readonly [fact: string]: Json }
  /** The digest of the messages and other content of the task so far (`receipt-content.ts`). */
  readonly content?: string
  /** The id of the key pair of both signatures. */
  readonly keyId: string
  /** HMAC-SHA256, hex. */
  readonly signature: string
  /** Ed25519, hex. */
  readonly ed25519?: string
}

/** `unknown-key`: signed with a key that this process does not have. It may be genuine. */
export type SignatureVerdict = 'genuine' | 'wrong' | 'unknown-key'

/** Checks signatures. For a reader that has only public keys, `verify` answers `unknown-key`. */
export interface Verifier {
  /** Checks an HMAC in constant time. */
  readonly verify: (text: string, signature: string, keyId: string) => SignatureVerdict
  /** Checks an Ed25519 signature. */
  readonly verifyPublic: (text: string, signature: string, keyId: string) => SignatureVerdict
  /**
   * The same verifier with additional public keys.
   * @throws when one is not an Ed25519 key
   */
  readonly trusting: (keys: readonly PublicKey[]) => Verifier
}

export interface Signer extends Verifier {
  readonly keyId: string
  /** HMAC-SHA256 of the text, hex. */
  readonly sign: (text: string) => string
  /** The Ed25519 signature of the text, hex. */
  readonly signPublic: (text: string) => string
  /** The public keys of the current and of former signing keys. */
  readonly publicKeys: readonly PublicKey[]
}

/** The public half of a key that signs receipts, as a JSON Web Key (RFC 8037). */
export interface PublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** The public key itself, base64url. */
  readonly x: string
  /** The key id that receipts name. */
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}
