/**
 * Signs a card of A2A 1.0 (§8.4) with a JWS over its canonical JSON (RFC 8785). The JWS does not
 * contain the payload.
 */
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { signedPart } from '../../../wire/signed-card.ts'
import { encoded, type SigningKey } from './signing-key.ts'

export type SignCard = (card: object) => object

/** @param jku the address of the public key */
export function createSignCard(key: SigningKey, jku: string): SignCard {
  const header = encoded({ alg: 'ES256', typ: 'JOSE', kid: key.kid, jku })
  return (card) => {
    const payload = encoded(canonical(signedPart(card)))
    const signature = key.signatureOf(`${header}.${payload}`)
    return { ...card, signatures: [{ protected: header, signature }] }
  }
}
