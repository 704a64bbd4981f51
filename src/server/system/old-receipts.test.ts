/** A task that an earlier version exported, with receipts of version 2. It must verify for ever. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fold } from '../../core/evolve.ts'
import { checkReceipts } from '../../core/receipts/check-receipts.ts'
import { checkExport, type ExportHeader, type TaskExport } from '../../core/receipts/task-export.ts'
import type { LogRecord } from '../../core/records.ts'
import { createPublicVerifier, createSigner } from './signer.ts'

const file = new URL('../../core/test-support/logs/receipts-2.jsonl', import.meta.url)
const [header, ...records] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as unknown)
const old = { header: header as ExportHeader, records: records as LogRecord[] } satisfies TaskExport

const signer = createSigner(Buffer.from('the key of the fixtures'))
const outsider = createPublicVerifier([
  {
    kty: 'OKP',
    crv: 'Ed25519',
    x: '15rvrl_FcUfucSLiETMipThHzrrsXx4EmSPkwFgfSvY',
    kid: '9c0434f59cd31098',
    alg: 'EdDSA',
    use: 'sig',
  },
])

it('verifies on a server with the key, by both signatures', () => {
  const { receipts, faults } = checkReceipts(old.records, signer)
  expect(faults).toEqual([])
  expect(receipts.map(({ receipt: { kind }, verifiedBy }) => [kind, ...verifiedBy])).toEqual([
    ['SuspensionReceipt', 'hmac-sha256', 'ed25519'],
    ['ResumptionReceipt', 'hmac-sha256', 'ed25519'],
  ])
  expect(fold(old.records)).toMatchObject({ state: 'completed' })
})

it('verifies for an outsider with the public key alone, and not when it was changed', () => {
  expect(checkExport(old, outsider).faults).toEqual([])
  const changed = JSON.parse(JSON.stringify(old).replace('rail', 'road')) as TaskExport
  expect(changed).not.toEqual(old)
  expect(checkExport(changed, outsider).faults).not.toEqual([])
})
