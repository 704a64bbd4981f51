import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { describeError } from '../../core/describe-error.ts'
import { LullError } from '../../core/errors.ts'
import { keptSecret } from './secret-file.ts'

/** The PEM of the key that signs webhook deliveries. It is created at first use, as `push.key` in the data directory. */
export function pushKey(data: string): string {
  const path = join(data, 'push.key')
  try {
    return keptSecret(path, make).toString('utf8')
  } catch (cause) {
    const reason = describeError(cause).message
    const why = `the key that signs webhook deliveries cannot be kept in ${path} (${reason})`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

function make(): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}
