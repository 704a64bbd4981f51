/** How many webhooks a task, a principal and a tenant may have. */
import { LullError } from '../../../core/errors.ts'
import type { PushOwner, PushTarget } from '../../../core/push.ts'
import { createShares } from '../../../engine/limits/shares.ts'
import type { OpenCounts } from './open-counts.ts'

/**
 * Runs `add`, which adds the webhook to the task, one after the other for each task.
 * @param taskId undefined for a task that `add` creates
 * @throws LullError `LIMIT_EXCEEDED` when the task or its principal has as many as it may have
 */
export type Admitted = <T>(
  owner: PushOwner,
  taskId: string | undefined,
  target: PushTarget,
  add: () => Promise<T>,
) => Promise<T>

/** Each is called for every event of the task. */
const WEBHOOKS_PER_TASK = 16
const TENANT_FACTOR = 4
const RETRY_AFTER_MS = 60_000

/** @param webhooks how many open ones a principal may have */
export function createAdmitted(open: OpenCounts, webhooks: number): Admitted {
  const additions = createShares(1)
  const limits = [
    ['principal', webhooks],
    ['tenant', webhooks * TENANT_FACTOR],
  ] as const

  async function isThere(taskId: string, id: string): Promise<boolean> {
    const known = await open.store.pushes(taskId)
    if (known.some((one) => one.id === id)) return true
    if (known.length < WEBHOOKS_PER_TASK) return false
    throw new LullError('LIMIT_EXCEEDED', { limit: 'webhooksPerTask', value: WEBHOOKS_PER_TASK })
  }

  function reached(owner: PushOwner): (typeof limits)[number] | undefined {
    const used = open.of(owner)
    return limits.find(([of, value]) => used[of] >= value)
  }

  return (owner, taskId, target, add) => {
    const work = async () => {
      if (taskId !== undefined && (await isThere(taskId, target.id))) return add()
      // Other processes may have finished webhooks that are counted here.
      if (reached(owner) !== undefined) await open.recount()
      const full = reached(owner)
      if (full === undefined) return open.reserved(owner, add)
      const [of, value] = full
      const limit = `webhooks of the ${of}`
      throw new LullError('LIMIT_EXCEEDED', { limit, value, retryAfterMs: RETRY_AFTER_MS })
    }
    return taskId === undefined ? work() : additions.during(taskId, work)
  }
}
