/**
 * Sends one delivery: a POST with a timeout. Every redirect is checked, and the body of the answer
 * is not read.
 */

import { request as http } from 'node:http'
import { request as https } from 'node:https'
import type { Task } from '../../../core/task.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { toTraceparent } from '../../../core/values/span-link.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { taskAttributes } from '../../../engine/observe/task-attributes.ts'
import type { PushSigner } from './signature.ts'
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

/**
 * Limits how many deliveries are under way at once, in total and to one host. Each has a socket,
 * and a process without free sockets cannot accept requests either. Further deliveries wait; a host
 * that does not answer delays only its own. A free slot goes to the tenant with the fewest, so that
 * slow receivers of one tenant do not delay others.
 */
interface Slots {
  /** Runs the work when there is a slot for it, and frees the slot however the work ends. */
  during<T>(use: SlotUse, work: () => Promise<T>): Promise<T>
}

interface SlotUse {
  readonly tenant: string
  readonly host: string
}

interface SlotLimits {
  readonly total: number
  readonly perHost: number
}

const defaultSlots: SlotLimits = { total: 64, perHost: 8 }

interface Waiting extends SlotUse {
  readonly start: () => void
}

export function createSlots({ total, perHost }: SlotLimits = defaultSlots): Slots {
  const byHost = new Map<string, number>()
  const byTenant = new Map<string, number>()
  /** Work that waits, in the order of arrival. */
  const waiting = new Set<Waiting>()
  let open = 0

  function isFree({ host }: SlotUse): boolean {
    return open < total && (byHost.get(host) ?? 0) < perHost
  }

  function count({ host, tenant }: SlotUse, by: 1 | -1): void {
    open += by
    addTo(byHost, host, by)
    addTo(byTenant, tenant, by)
  }

  function next(): Waiting | undefined {
    const tenantOpen = ({ tenant }: SlotUse): number => byTenant.get(tenant) ?? 0
    let found: Waiting | undefined
    for (const one of waiting) {
      if (!isFree(one)) continue
      if (found === undefined || tenantOpen(one) < tenantOpen(found)) found = one
    }
    return found
  }

  function free(use: SlotUse): void {
    count(use, -1)
    const one = next()
    if (one === undefined) return
    waiting.delete(one)
    count(one, 1)
    one.start()
  }

  return {
    async during(use, work) {
      if (isFree(use)) count(use, 1)
      else await new Promise<void>((start) => waiting.add({ ...use, start }))
      try {
        return await work()
      } finally {
        free(use)
      }
    },
  }
}

function addTo(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const now = (counts.get(name) ?? 0) + by
  if (now === 0) counts.delete(name)
  else counts.set(name, now)
}

/** Wraps a delivery in its own span, which the receiver gets in the header `traceparent`. */
export function tracedPost(
  post: Post,
  tracing: EngineDeps['tracing'],
): (task: Task, delivery: Delivery, confirm: () => Promise<void>) => Promise<void> {
  return async (task, delivery, confirm) => {
    const span = tracing?.start('push', {
      kind: 'client',
      parent: task.trace,
      attributes: taskAttributes(task),
    })
    if (span === undefined) return post(delivery, confirm)
    try {
      const headers = { ...delivery.headers, traceparent: toTraceparent(span.link) }
      await span.during(() => post({ ...delivery, headers }, confirm))
    } catch (error) {
      span.fail(describeError(error).name)
      throw error
    } finally {
      span.end()
    }
  }
}
