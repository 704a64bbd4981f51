/**
 * `GET /ops/waiting`: every stopped or interrupted task and what it waits for, the latest stop first. Stopped tasks
 * wait for their conditions or a resume, interrupted tasks for an answer. The list has only tasks that the caller may
 * read.
 */
import { z } from 'zod'
import { expiresAt } from '../../core/decide/suspending.ts'
import { textOf } from '../../core/messages/message.ts'
import { isInterrupted, isPaused, states } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import { renderOne } from '../../engine/ledger/unreadable-task.ts'
import { name, type OpsRoute, pageSize, readsTasks, route, taskCursor, tenant } from './route.ts'

const waitingStates = states.filter((state) => isPaused(state) || isInterrupted(state))

const query = z.strictObject({
  state: z.array(z.enum(waitingStates)).optional(),
  agent: name,
  contextId: name,
  cursor: taskCursor,
  limit: pageSize,
  tenant,
})

export const listWaiting: OpsRoute = route('waiting', {
  ...readsTasks,
  about: 'Tasks that are stopped or ask, the latest stop first, and what each waits for',
  query,
  answer: z.object({
    tasks: z.array(z.record(z.string(), z.unknown())),
    /** The number of matching tasks on all pages. */
    total: z.number(),
    /** The cursor of the next page. Absent on the last page. */
    cursor: z.string().optional(),
  }),
  async handle(engine, caller, { query: { state: wanted = waitingStates, tenant: _, ...rest } }) {
    const asked = waitingStates.filter((state) => wanted.includes(state))
    const { tasks, total, cursor } = await engine.list(caller, { ...rest, states: asked })
    const page = { tasks: tasks.map((task) => renderOne(task, waitOf)), total }
    return cursor === undefined ? page : { ...page, cursor }
  },
})

function waitOf(task: Task): JsonObject {
  const { id: taskId, agent, contextId, state, holds } = task
  const common = { taskId, agent, contextId, state, held: holds.length > 0 }
  const { suspension } = task
  return suspension === undefined
    ? { ...common, ...questionOf(task) }
    : { ...common, ...stopOf(suspension) }
}

function stopOf(suspension: NonNullable<Task['suspension']>): JsonObject {
  const { pausedAt, requestedAt, fireAt, deadlineAt, conditions } = suspension
  const { handle, initiator, reason, summary } = suspension
  const due = Math.min(fireAt ?? Number.POSITIVE_INFINITY, deadlineAt ?? Number.POSITIVE_INFINITY)
  return present({
    since: toIso(pausedAt ?? requestedAt),
    initiator,
    handle,
    reason,
    summary,
    // Null: only an explicit resume wakes the task.
    conditions: (conditions as Json | undefined) ?? null,
    deadlineAt: instant(deadlineAt),
    dueAt: Number.isFinite(due) ? toIso(due) : undefined,
  })
}

function questionOf({ question, statusAt }: Task): JsonObject {
  return present({
    since: toIso(statusAt),
    prompt: question && textOf(question.message),
    dueAt: instant(question && expiresAt(question)),
  })
}

function instant(at: number | undefined): string | undefined {
  return at === undefined ? undefined : toIso(at)
}

function present(facts: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}
