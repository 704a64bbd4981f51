import type { SignatureVerdict, Signer } from '../core/receipts/receipt.ts'

/** A fast, deterministic checksum instead of signatures, for tests that do not verify receipts. */
export const testSigner: Signer = {
  keyId: 'test',
  sign: (text) => `signed:${checksum(text)}`,
  signPublic: (text) => `signed for all:${checksum(text)}`,
  publicKeys: [],
  verify: (text, signature, keyId) => verdict(keyId, signature === testSigner.sign(text)),
  verifyPublic: (text, signature, keyId) =>
    verdict(keyId, signature === testSigner.signPublic(text)),
  trusting: () => testSigner,
}

function verdict(keyId: string, isSame: boolean): SignatureVerdict {
  if (keyId !== testSigner.keyId) return 'unknown-key'
  return isSame ? 'genuine' : 'wrong'
}

/** FNV-1a, 32 bits. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
