/** `GET /ops/tasks`, and routes of one task: its state, its receipts, its webhooks, a fork of it. */

import { z } from 'zod'
import { type Push, pushStatus } from '../../core/push.ts'
import { type State, states } from '../../core/states.ts'
import { toIso } from '../../core/values/instant.ts'
import { reachScopes } from '../../engine/caller.ts'
import { receiptKind, receiptVerdict, signatureKind } from '../../engine/input/inputs.ts'
import { forkBody } from '../../engine/requests/fork/fork-task.ts'
import { verbs } from '../../engine/requests/verbs.ts'
import { receiptReport } from '../../engine/requests/verify-task.ts'
import type { WebhookSummary } from '../../wire/ops/tasks.ts'
import {
  flag,
  name,
  type OpsRoute,
  pageSize,
  readsTasks,
  route,
  taskCursor,
  tenant,
} from './route.ts'
import { searchTasks } from './search-tasks.ts'
import { listSorted, taskOrders } from './sorted-tasks.ts'
import { summaryOf, taskSummary } from './task-summary.ts'

const state = z.enum(states as [State, ...State[]])

const tasksQuery = z.strictObject({
  state: z.array(state).optional(),
  agent: name,
  contextId: name,
  parentId: name,
  held: flag,
  /** Words that a task must show, or parts of its id. */
  q: z.string().max(200).optional(),
  /** Another order than the latest change first; `-` in front: descending. Not for a search. */
  sort: z.enum(taskOrders).optional(),
  /** `false`: the counts per state are not wanted. */
  counts: flag,
  cursor: taskCursor,
  limit: pageSize,
  tenant,
})

export const listTasks: OpsRoute = route('tasks', {
  ...readsTasks,
  about: 'Tasks, the latest change first, and how many there are of each state',
  query: tasksQuery,
  answer: z.object({
    tasks: z.array(taskSummary),
    total: z.number(),
    /** The number of tasks per state, with every filter except the one by state. */
    counts: z.record(z.string(), z.number()),
    cursor: z.string().optional(),
    /** With `q`: the number of tasks that were read, at most 1,000, and fewer when they are large. `total` is then the number found among them. */
    searched: z.number().optional(),
  }),
  async handle(engine, caller, { query, now }) {
    const { state: wanted, tenant: _, q = '', sort, counts: isCounted = true, ...rest } = query
    const filter = wanted === undefined ? rest : { ...rest, states: wanted }
    if (q.trim() !== '') return searchTasks(engine, caller, q, filter, now)
    const { cursor, limit, ...counted } = rest
    const [page, counts] = await Promise.all([
      sort === undefined ? engine.list(caller, filter) : listSorted(engine, caller, sort, filter),
      isCounted ? engine.count(caller, counted) : {},
    ])
    return { ...page, tasks: page.tasks.map((task) => summaryOf(task, now)), counts }
  },
})

export const showTask: OpsRoute = route('task', {
  ...readsTasks,
  about: 'One task',
  answer: taskSummary,
  handle: async (engine, caller, { id, now }) => summaryOf(await engine.get(caller, id), now),
})

export const showReceipts: OpsRoute = route('receipts', {
  ...readsTasks,
  about: 'The receipts of a task, each with its verdict, and what is wrong with them',
  answer: z.object({
    taskId: z.string(),
    /** The number of records checked. */
    records: z.number(),
    /** Each receipt with the number of its record, what its check has shown, and the signatures that are genuine. */
    receipts: z.array(
      z.looseObject({
        seq: z.number(),
        kind: receiptKind,
        number: z.number(),
        at: z.number(),
        facts: z.record(z.string(), z.unknown()),
        keyId: z.string(),
        verdict: receiptVerdict,
        /** The key that signed the receipt of the import that vouches for this one, and when. */
        vouchedBy: z.object({ keyId: z.string(), at: z.number() }).optional(),
        verifiedBy: z.array(signatureKind),
      }),
    ),
    /** Whether every receipt is genuine and none is missing. */
    verified: z.boolean(),
    /** Empty when it is verified. */
    faults: z.array(
      z.object({ seq: z.number(), problem: z.string(), unknownKey: z.string().optional() }),
    ),
  }),
  handle: async (engine, caller, { id }) => receiptReport(await engine.verify(caller, id)),
})

export const forkTask: OpsRoute = route('fork', {
  scope: 'ops:control',
  ownScopes: [verbs.fork.scope, reachScopes[verbs.fork.act]],
  about: 'Starts a new task from the recorded past of this one',
  body: forkBody,
  answer: taskSummary,
  async handle(engine, caller, { id, body, now }) {
    return summaryOf(await engine.fork(caller, { ...body, taskId: id }), now)
  },
})

/** `GET /ops/tasks/{id}/webhooks`: how far the events of a task have reached its webhooks. */
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
  ...readsTasks,
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
