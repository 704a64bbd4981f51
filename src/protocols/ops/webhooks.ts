/** `GET /ops/tasks/{id}/webhooks`: how far the events of a task have reached its webhooks. */
import { z } from 'zod'
import { type Push, pushStatus } from '../../core/push.ts'
import { toIso } from '../../core/values/instant.ts'
import type { WebhookSummary } from '../../wire/ops/tasks.ts'
import { type OpsRoute, route } from './route.ts'

const instant = z.iso.datetime().optional()

const webhook: z.ZodType<WebhookSummary> = z.object({
  webhookId: z.string(),
  to: z.string(),
  status: z.enum(['open', 'failed', 'done']),
  deliveredSeq: z.number(),
  attempts: z.number(),
  retryAt: instant,
  failedAt: instant,
  error: z.string().optional(),
})

export const showWebhooks: OpsRoute = route('webhooks', {
  scope: 'ops:read',
  about: 'The webhooks of a task: what was delivered, what is tried again, what was given up',
  answer: z.object({ taskId: z.string(), webhooks: z.array(webhook) }),
  handle: async (engine, caller, { id }) => ({
    taskId: id,
    webhooks: (await engine.webhooks(caller, id)).map(shown),
  }),
})

/** Path, query, token and credentials of a webhook are secrets of its receiver. */
function shown(push: Push): WebhookSummary {
  const { id, url, sentSeq, attempts, retryAt, failedAt, error } = push
  return {
    webhookId: id,
    to: URL.canParse(url) ? new URL(url).origin : 'unknown',
    status: pushStatus(push),
    deliveredSeq: sentSeq,
    attempts,
    ...(retryAt === undefined || failedAt !== undefined ? {} : { retryAt: toIso(retryAt) }),
    ...(failedAt === undefined ? {} : { failedAt: toIso(failedAt) }),
    ...(error === undefined ? {} : { error }),
  }
}
