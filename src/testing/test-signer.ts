import type { Signer } from '../core/receipt.ts'

/** Not a real signature: quick, and the same every time. For tests that do not look at receipts. */
export const testSigner: Signer = {
  keyId: 'test',
  sign: (text) => `signed:${fingerprint(text)}`,
  hash: fingerprint,
  verify: (text, signature, keyId) =>
    keyId === 'test' && signature === `signed:${fingerprint(text)}`,
}

/** FNV-1a, 32 bits. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
