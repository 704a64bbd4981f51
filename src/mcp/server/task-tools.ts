/**
 * Operations on tasks as MCP tools. Each is a row with its input and what it does with a client of
 * the server.
 */
import { z } from 'zod'
import type { Client } from '../../client/client.ts'
import type { ReminderInput } from '../../client/tasks/remind.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { pauseModes } from '../../core/suspension.ts'
import type { Json } from '../../core/values/json.ts'

const taskId = z.string().describe('The id of the task')
const waitSeconds = z
  .number()
  .min(0)
  .max(3_600)
  .default(45)
  .describe('How long to wait until the task ends or needs an answer')

/** A reminder as in `tasks/inject_reminder` of A2A and `session/inject_reminder` of ACP. */
const reminderEnvelope = z.object({
  id: z.string().optional().describe('The same id twice is one reminder'),
  body: z.string(),
  tags: z.array(z.string()).optional(),
  dedupeKey: z.string().optional().describe('Replaces pending reminders with the same key'),
  ttlTurns: z.int().min(1).optional().describe('For how many turns; absent: until the task ends'),
  preserveOnCompact: z.boolean().optional(),
  propagate: z.enum(['session', 'none', 'all']).optional(),
  roleHint: z.enum(['system', 'developer']).optional(),
  source: z.string().optional(),
  firedAtTurn: z.int().min(0).optional(),
  mode: z.enum(pauseModes).optional(),
})

interface Definition<S extends z.ZodObject> {
  readonly about: string
  readonly input: S
  readonly readOnly?: true
  readonly starts?: true
  readonly run: (client: Client, input: z.infer<S>) => Promise<Done>
}

export interface TaskTool {
  readonly about: string
  readonly input: z.ZodObject
  readonly readOnly: boolean
  /**
   * Whether the call starts or continues work of an agent, so that a client may follow it as an MCP
   * task.
   */
  readonly starts: boolean
  /** Returns the outcome, or the task to wait for. */
  readonly run: (client: Client, input: unknown) => Promise<Done>
}

export type Done =
  | { readonly task: string; readonly waitSeconds: number }
  | { readonly result: Record<string, Json> }

/** Removes members that are undefined. */
const defined = <T>(value: object): T => JSON.parse(JSON.stringify(value)) as T

function row<S extends z.ZodObject>(definition: Definition<S>): TaskTool {
  const { about, input, readOnly = false, starts = false, run } = definition
  return { about, input, readOnly, starts, run: (client, given) => run(client, input.parse(given)) }
}

const plain = (value: object): Done => ({
  result: JSON.parse(JSON.stringify(value)) as Record<string, Json>,
})

async function sent(sending: ReturnType<Client['send']>, seconds: number): Promise<Done> {
  const answer = await sending
  return answer.kind === 'message'
    ? plain({ message: answer.message })
    : waited(answer.task, seconds)
}

const waited = ({ id }: Pick<Task, 'id'>, seconds: number): Done => ({
  task: id,
  waitSeconds: seconds,
})

export const taskTools: Readonly<Record<string, TaskTool>> = {
  task_send: row({
    about: 'Gives work to the agent: starts a task, or sends a further message to one that exists.',
    input: z.object({ message: z.string(), taskId: taskId.optional(), waitSeconds }),
    starts: true,
    run: (client, { message, taskId: to, waitSeconds: seconds }) =>
      sent(
        client.send(message, {
          returnImmediately: true,
          ...(to === undefined ? {} : { taskId: to }),
        }),
        seconds,
      ),
  }),
  task_get: row({
    about: 'Shows a task: its state, what it asks, its results. Waits while it works.',
    input: z.object({ taskId, waitSeconds: waitSeconds.default(0) }),
    readOnly: true,
    run: async (_client, input) => waited({ id: input.taskId }, input.waitSeconds),
  }),
  task_answer: row({
    about: 'Answers what a task asks: with a text, with data, or by granting or denying consent.',
    input: z.object({
      taskId,
      text: z.string().optional(),
      data: z.json().optional(),
      consent: z.enum(['granted', 'denied']).optional(),
      waitSeconds,
    }),
    run: (client, { taskId: id, text, data, consent, waitSeconds: seconds }) => {
      const content =
        consent !== undefined ? { consent } : data !== undefined ? [{ data }] : (text ?? '')
      return sent(client.answer(id, content, { returnImmediately: true }), seconds)
    },
  }),
  task_pause: row({
    about: 'Pauses a task. It loses nothing and can be resumed at any time.',
    input: z.object({
      taskId,
      reason: z.string().optional(),
      mode: z.enum(pauseModes).optional(),
    }),
    run: async (client, { taskId: id, ...options }) => plain(await client.pause(id, options)),
  }),
  task_resume: row({
    about: 'Resumes a paused or parked task, with input for the agent if you like.',
    input: z.object({ taskId, input: z.json().optional(), waitSeconds }),
    run: async (client, { taskId: id, input, waitSeconds: seconds }) => {
      await client.resume(id, input === undefined ? {} : { input })
      return waited({ id }, seconds)
    },
  }),
  task_cancel: row({
    about: 'Cancels a task for good.',
    input: z.object({ taskId }),
    run: async (client, { taskId: id }) => {
      await client.cancel(id)
      return waited({ id }, 0)
    },
  }),
  task_remind: row({
    about:
      'Puts a reminder in front of the agent for its coming turns. It is context, not a message of the user.',
    input: z.object({ taskId, reminder: reminderEnvelope }),
    run: async (client, { taskId: id, reminder }) =>
      plain(await client.remind(id, defined<ReminderInput>(reminder))),
  }),
}
