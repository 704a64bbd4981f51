/**
 * Puts the questions of tasks to the user of a client of 2025-11-25, by a request of the server. A client of 2026-07-28 reads
 * them with `tasks/get` instead.
 */
import { RELATED_TASK_META_KEY, type Server } from '@modelcontextprotocol/server'
import type { Client } from '../../client/client.ts'
import { isClientError } from '../../client/client-error.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { type Asked, answerIn, askedBy } from './mcp-task.ts'

/** Names the task that a message of the server is about. */
export function related(taskId: string): Record<string, { readonly taskId: string }> {
  return { [RELATED_TASK_META_KEY]: { taskId } }
}

/** A response without an answer, because the user dismissed the question, leaves the task waiting. @throws ClientError */
export async function giveAnswer(client: Client, task: Task, response: unknown): Promise<void> {
  const answer = answerIn(task, response)
  if (answer !== undefined) await client.answer(task.id, answer, { returnImmediately: true })
}

/** One for each connection: it puts a question once, and again after an answer that the task refused. */
export function createAsking(server: Server, client: Client): (task: Task) => void {
  const put = new Set<string>()

  async function ask(task: Task, asked: Asked): Promise<void> {
    const response = await responseTo(server, client, task.id, asked)
    if (response !== undefined) await giveAnswer(client, task, response)
  }

  return (task) => {
    const asked = askedBy(task)
    if (asked === undefined || put.has(asked.key)) return
    put.add(asked.key)
    ask(task, asked).catch((error: unknown) => {
      if (isClientError(error)) put.delete(asked.key)
    })
  }
}

/** A person may take this long to answer. */
const ANSWER_MS = 24 * 3_600_000

/** @returns undefined if the question was answered elsewhere */
async function responseTo(
  server: Server,
  client: Client,
  taskId: string,
  { key, form }: Asked,
): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const hasMovedOn = (task: Task): boolean => askedBy(task)?.key !== key
  const elsewhere = client.waitFor(taskId, hasMovedOn, { signal }).then(() => undefined)
  const params = { ...form, _meta: related(taskId) }
  const request = { method: 'elicitation/create' as const, params }
  const response = server.request(request, { signal, timeout: ANSWER_MS })
  try {
    return await Promise.race([elsewhere, response])
  } finally {
    over.abort()
    await Promise.allSettled([elsewhere, response])
  }
}
