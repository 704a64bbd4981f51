/** Limits how many webhooks a task, a principal and a tenant may have. */
import { LullError } from '../../../core/errors.ts'
import type { PushOwner, PushTarget } from '../../../core/push.ts'
import { createShares } from '../../../engine/limits/shares.ts'
import type { OpenCounts } from './open-counts.ts'

/**
 * Runs `add`, which adds a webhook to a task. Additions to one task run one after the other.
 * @param taskId undefined if `add` creates the task
 * @throws LullError `LIMIT_EXCEEDED` when the task, its principal or its tenant may not have
 * another webhook
 */
export type Admitted = <T>(
  owner: PushOwner,
  taskId: string | undefined,
  target: PushTarget,
  add: () => Promise<T>,
) => Promise<T>

/** The limit per task, because every event of the task is sent to each of its webhooks. */
const WEBHOOKS_PER_TASK = 16
const TENANT_FACTOR = 4
const RETRY_AFTER_MS = 60_000

/** @param webhooks the most open webhooks of a principal */
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
      // Counts again, because other processes may have finished webhooks that are still counted
      // here.
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
