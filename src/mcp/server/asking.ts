/**
 * Asks the user of an MCP client the questions of tasks. A client of 2025-11-25 gets them as
 * requests of the server; a client of 2026-07-28 reads them with `tasks/get` instead.
 */
import { RELATED_TASK_META_KEY, type Server } from '@modelcontextprotocol/server'
import type { Client } from '../../client/client.ts'
import { isClientError } from '../../client/client-error.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { type Asked, answerIn, askedBy } from './mcp-task.ts'

/** Metadata that names the task to which a message of the server belongs. */
export function related(taskId: string): Record<string, { readonly taskId: string }> {
  return { [RELATED_TASK_META_KEY]: { taskId } }
}

/**
 * Sends the user's answer to the task. If the user dismissed the question, the task keeps waiting.
 * @throws ClientError
 */
export async function giveAnswer(client: Client, task: Task, response: unknown): Promise<void> {
  const answer = answerIn(task, response)
  if (answer !== undefined) await client.answer(task.id, answer, { returnImmediately: true })
}

/**
 * Asks the questions of one connection. A question is asked once, and again after an answer that
 * the task refused.
 */
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

/** How long a person may take to answer. */
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
