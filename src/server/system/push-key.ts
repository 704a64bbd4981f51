import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { isLullError, LullError } from '../../core/errors.ts'
import { describeError } from '../../core/values/describe-error.ts'
import { replaceSecret, type SecretPlace, secretIn } from './secrets.ts'

/** The PEM of the key that signs webhook deliveries. It is created at first use, as `push.key`. */
export async function pushKey(place: SecretPlace): Promise<string> {
  try {
    return (await secretIn(place, 'push.key', make)).toString('utf8')
  } catch (cause) {
    if (isLullError(cause)) throw cause
    const path = join(place.data, 'push.key')
    const reason = describeError(cause).message
    const why = `the key that signs webhook deliveries cannot be kept in ${path} (${reason})`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

/** Creates a new key. The former one stays published for a week after the next start. */
export async function rotatePushKey(place: SecretPlace): Promise<void> {
  await replaceSecret(place, 'push.key', make())
}

function make(): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}
