/**
 * `GET /ops/waiting`: every stopped or interrupted task and what it waits for, the latest stop first. Stopped tasks
 * wait for their conditions or a resume, interrupted tasks for an answer. The list has only tasks that the caller may
 * read.
 */
import { expiresAt } from '../../core/decide/suspending.ts'
import { LullError } from '../../core/errors.ts'
import { textOf } from '../../core/messages/message.ts'
import type { State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ListRequest } from '../../engine/input/requests.ts'
import { renderOne } from '../../engine/ledger/unreadable-task.ts'

const waitingStates: readonly State[] = [
  'paused-by-agent',
  'paused-by-client',
  'input-required',
  'auth-required',
  'user-consent-required',
]

export interface WaitingPage {
  readonly tasks: readonly JsonObject[]
  /** The number of matching tasks on all pages. */
  readonly total: number
  /** The cursor of the next page. Absent on the last page. */
  readonly cursor?: string
}

/** @throws LullError `INVALID_INPUT` that names the wrong parameter */
export async function listWaiting(
  engine: Engine,
  caller: Caller,
  query: URLSearchParams,
): Promise<WaitingPage> {
  const { tasks, total, cursor } = await engine.list(caller, requestIn(query))
  const page = { tasks: tasks.map((task) => renderOne(task, waitOf)), total }
  return cursor === undefined ? page : { ...page, cursor }
}

const filters = ['agent', 'contextId', 'cursor'] as const
const known: ReadonlySet<string> = new Set([...filters, 'state', 'limit', 'tenant'])

function requestIn(query: URLSearchParams): ListRequest {
  for (const name of new Set(query.keys())) {
    if (!known.has(name)) throw invalid(name, `is not known; there are ${[...known].join(', ')}`)
    if (name !== 'state' && query.getAll(name).length > 1) throw invalid(name, 'is given twice')
  }
  const given = filters.flatMap((name) => {
    const value = query.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const limit = query.get('limit')
  return {
    ...Object.fromEntries(given),
    states: statesIn(query),
    ...(limit === null ? {} : { limit: Number(limit === '' ? Number.NaN : limit) }),
  }
}

function statesIn(query: URLSearchParams): readonly State[] {
  const asked = query.getAll('state')
  const found = waitingStates.filter((state) => asked.includes(state))
  if (found.length < new Set(asked).size) {
    throw invalid('state', `must be one of ${waitingStates.join(', ')}`)
  }
  return found.length === 0 ? waitingStates : found
}

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

function invalid(path: string, problem: string): LullError {
  return new LullError('INVALID_INPUT', { path, problem })
}
