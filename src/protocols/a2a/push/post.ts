/**
 * Sends one delivery: a POST with a timeout. Every redirect is checked, and the body of the answer
 * is not read.
 */
import { request as http } from 'node:http'
import { request as https } from 'node:https'
import type { PushSigner } from './signature.ts'
import { createSlots } from './slots.ts'
import { guardedLookup, refusedTarget, TargetRefused } from './targets.ts'

export interface Delivery {
  /** The tenant of the task. */
  readonly tenant: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Resolves when the receiver answered 2xx. Otherwise rejects, with `TargetRefused` if a retry is
 * pointless.
 * @param confirm called before each request, when it has a slot. If it rejects, nothing is sent
 */
export type Post = (delivery: Delivery, confirm?: () => Promise<void>) => Promise<void>

const REDIRECTS = 3

interface PostOptions {
  readonly allowInner: boolean
  readonly timeoutMs: number
  /** Absent: deliveries are not signed. */
  readonly signer?: PushSigner | undefined
}

export function createPost(options: PostOptions): Post {
  const slots = createSlots()

  async function post(
    delivery: Delivery,
    redirects: number,
    confirm: () => Promise<void>,
  ): Promise<void> {
    const url = new URL(delivery.url)
    const refused = refusedTarget(url, options.allowInner)
    if (refused !== undefined) throw new TargetRefused(refused)
    const { status, location } = await slots.during(
      { tenant: delivery.tenant, host: url.host },
      async () => {
        await confirm()
        return send(url, delivery, options)
      },
    )
    if (status >= 200 && status < 300) return
    // Only 307 and 308 keep the method and the body. Other redirects ask for a GET.
    const follow = (status === 307 || status === 308) && location !== undefined
    if (!follow) throw new Error(`The receiver answered ${status}`)
    if (redirects === 0) throw new Error('The receiver redirects too often')
    const next = new URL(location, url)
    if (next.protocol !== 'https:' && next.protocol !== 'http:') {
      throw new TargetRefused(`The receiver redirects to ${next.protocol}`)
    }
    // Credentials are not sent to another origin after a redirect.
    const { authorization: _secret, 'x-a2a-notification-token': _token, ...rest } = delivery.headers
    const headers = next.origin === url.origin ? delivery.headers : rest
    return post({ ...delivery, url: next.href, headers }, redirects - 1, confirm)
  }

  return (delivery, confirm = async () => undefined) => post(delivery, REDIRECTS, confirm)
}

function send(
  url: URL,
  { headers, body }: Delivery,
  { allowInner, timeoutMs, signer }: PostOptions,
): Promise<{ readonly status: number; readonly location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http)(url, {
      method: 'POST',
      headers: {
        // Each hop of a redirect gets its own signature, because a signature names its receiver.
        ...(signer?.signed(url, headers, body) ?? headers),
        'content-length': Buffer.byteLength(body),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(allowInner ? {} : { lookup: guardedLookup }),
    })
    request.on('response', (response) => {
      const { statusCode = 0 } = response
      // The body of the answer is ignored, because it may be endless.
      response.on('error', () => undefined)
      response.destroy()
      resolve({ status: statusCode, location: response.headers.location })
    })
    request.on('error', reject)
    request.end(body)
  })
}
