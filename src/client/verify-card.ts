/** Checks that an agent card comes from the server it is said to come from (A2A 1.0 §8.4). */
import { canonical } from '../core/canonical-json.ts'
import { signedPart } from '../wire/signed-card.ts'
import { toBase64Url, verifyJws } from './jws.ts'
import { createKeySet, type KeySetOptions } from './key-set.ts'
import { isObject, listIn, textIn } from './wire/json-members.ts'

export type CardVerification =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly problem: string }

/**
 * One genuine signature is enough. The keys are those of `server`: an address that the card itself names is not asked.
 * @param card as it was received: `raw` of an `AgentCard`
 */
export async function verifyCard(card: unknown, options: KeySetOptions): Promise<CardVerification> {
  const signatures = isObject(card) ? listIn(card, 'signatures') : []
  if (!isObject(card) || signatures.length === 0) return { ok: false, problem: 'has no signature' }
  const keys = createKeySet(options)
  const payload = toBase64Url(canonical(signedPart(card)))
  let last: CardVerification = { ok: false, problem: 'has no signature' }
  for (const one of signatures) {
    const [header = '', signature = ''] = [textIn(one, 'protected'), textIn(one, 'signature')]
    last = await verifyJws(header, payload, signature, keys)
    if (last.ok) return last
  }
  return last
}
