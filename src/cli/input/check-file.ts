/** Checks an exported task with public keys. Only the keys may be fetched from a server. */
import { readFileSync } from 'node:fs'
import type { Ops } from '../../client/ops-client.ts'
import { isLullError } from '../../core/errors.ts'
import type { PublicKey } from '../../core/receipts/receipt.ts'
import { checkExport, type TaskExport } from '../../core/receipts/task-export.ts'
import { keySet, readTaskFile } from '../../server/routes/task-file.ts'
import { createPublicVerifier } from '../../server/system/signer.ts'
import { UsageError } from '../command.ts'

export type ReceiptReport = Awaited<ReturnType<Ops['receipts']>>

export interface CheckedFile {
  readonly report: ReceiptReport
  /** For the user: which keys the check used, and how to choose others. */
  readonly note?: string
}

/** @param keys files or addresses of JSON Web Key Sets, separated by commas; absent: the keys in the file @throws UsageError when a file cannot be used */
export async function checkFile(file: string, keys: string | undefined): Promise<CheckedFile> {
  const exported = readExport(file)
  const usedKeys = keys === undefined ? exported.header.keys : await readKeys(keys)
  const { receipts, faults } = checkExport(exported, verifierOf(usedKeys))
  const report: ReceiptReport = {
    taskId: exported.header.taskId,
    records: exported.records.length,
    receipts: receipts.map(({ receipt, ...checked }) => ({ ...receipt, ...checked })),
    verified: faults.length === 0,
    faults,
  }
  const note = `Checked with the keys that the file itself names (${usedKeys.map(({ kid }) => kid).join(', ')}). Give --keys to check whose they are.`
  return keys === undefined ? { report, note } : { report }
}

/** @throws UsageError */
export function readExport(file: string): TaskExport {
  const text = readText(file === '-' ? 0 : file)
  try {
    return readTaskFile(text)
  } catch (cause) {
    if (isLullError(cause)) throw new UsageError(`${file}: ${cause.message}`, { cause })
    throw cause
  }
}

/** @param places files or addresses, separated by commas @throws UsageError */
export async function readKeys(places: string): Promise<readonly PublicKey[]> {
  return (await Promise.all(places.split(',').map(readKeysAt))).flat()
}

async function readKeysAt(place: string): Promise<readonly PublicKey[]> {
  const text = /^https?:/.test(place) ? await fetchText(place) : readText(place)
  const problem = 'is not a set of receipt keys, such as /.well-known/lull-receipt-keys.json has'
  try {
    return keySet.parse(JSON.parse(text)).keys
  } catch (cause) {
    throw new UsageError(`${place}: ${problem}`, { cause })
  }
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new UsageError(`${url} cannot be read; save the keys to a file and give that`, { cause })
  })
  if (!response.ok) throw new UsageError(`${url} answers ${response.status}, not with keys`)
  return response.text()
}

function readText(file: string | 0): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function verifierOf(keys: readonly PublicKey[]) {
  try {
    return createPublicVerifier(keys)
  } catch (cause) {
    throw new UsageError('one of the keys is not an Ed25519 key', { cause })
  }
}
