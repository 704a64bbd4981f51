/** A task in lists, in the dashboard and in the change feed: a few fields, and one sentence for people. */
import { z } from 'zod'
import { mayStillAct } from '../../core/evolve/abandoned.ts'
import { textOf } from '../../core/messages/message.ts'
import { isTerminal, states } from '../../core/states.ts'
import type { Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import { nextDueAt } from '../../core/waiting/due.ts'
import { waitText } from '../../core/waiting/wait-text.ts'
import { initiator } from '../../engine/input/inputs.ts'
import { renderOne } from '../../engine/ledger/unreadable-task.ts'
import type { QuestionSummary, StopSummary, TaskSummary } from '../../wire/ops/tasks.ts'

const instant = z.iso.datetime()

const stop: z.ZodType<StopSummary> = z.object({
  handle: z.string(),
  initiator: initiator,
  actor: z.object({ kind: z.string(), id: z.string() }),
  reason: z.string().optional(),
  summary: z.string().optional(),
  conditions: z.unknown(),
  inputSchema: z.unknown().optional(),
  wakes: z.string(),
  deadlineAt: instant.optional(),
})

const question: z.ZodType<QuestionSummary> = z.object({
  prompt: z.string(),
  consentId: z.string().optional(),
  operation: z.unknown(),
  digest: z.string().optional(),
  choices: z.array(z.object({ value: z.string(), label: z.string().optional() })).optional(),
  schema: z.unknown(),
})

export const taskSummary: z.ZodType<TaskSummary> = z.object({
  taskId: z.string(),
  tenant: z.string(),
  principal: z.string(),
  agent: z.string(),
  contextId: z.string(),
  parentId: z.string().optional(),
  forkedFrom: z.string().optional(),
  state: z.enum(states as [string, ...string[]]),
  version: z.number().int(),
  createdAt: instant,
  since: instant,
  title: z.string(),
  says: z.string(),
  progress: z.number().optional(),
  turn: z.number().int(),
  pausing: z.boolean(),
  held: z.boolean(),
  mayStillAct: z.array(z.string()).optional(),
  stop: stop.optional(),
  question: question.optional(),
  dueAt: instant.optional(),
  remainingMs: z.number().int().optional(),
  usage: z.record(z.string(), z.number()),
  traceId: z.string().optional(),
})

const TITLE = 120
const SENTENCE = 300

export function summaryOf(task: Task, now: number): TaskSummary {
  return renderOne(task, (one) => summarize(one, now))
}

function summarize(task: Task, now: number): TaskSummary {
  const { id: taskId, tenant, principal, agent, contextId, parentId, state, version, turn } = task
  const dueAt = nextDueAt(task)
  const acting = mayStillAct(task)
  return {
    taskId,
    tenant,
    principal,
    agent,
    contextId,
    ...(parentId === undefined ? {} : { parentId }),
    ...(task.forkedFrom === undefined ? {} : { forkedFrom: task.forkedFrom.taskId }),
    state,
    version,
    createdAt: toIso(task.createdAt),
    since: toIso(task.statusAt),
    title: short(titleOf(task), TITLE),
    says: short(sentenceOf(task, now), SENTENCE),
    ...(task.progress === undefined ? {} : { progress: task.progress }),
    turn,
    pausing: task.pausing !== undefined,
    held: task.holds.length > 0,
    ...(acting === undefined ? {} : { mayStillAct: acting }),
    ...stopIn(task, now),
    ...questionIn(task),
    ...(dueAt === undefined
      ? {}
      : { dueAt: toIso(dueAt), remainingMs: Math.max(0, Math.round(dueAt - now)) }),
    usage: { ...task.usage },
    ...(task.trace === undefined ? {} : { traceId: task.trace.traceId }),
  }
}

function stopIn(task: Task, now: number): Pick<TaskSummary, 'stop'> {
  const found = task.suspension ?? task.pausing
  if (found === undefined) return {}
  const { handle, initiator, actor, reason, summary, conditions, inputSchema, deadlineAt } = found
  return {
    stop: {
      handle,
      initiator,
      actor: { ...actor },
      ...(reason === undefined ? {} : { reason }),
      ...(summary === undefined ? {} : { summary }),
      conditions: conditions ?? null,
      ...(inputSchema === undefined ? {} : { inputSchema }),
      wakes: wakesOf(found, now),
      ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
    },
  }
}

function questionIn({ question }: Task): Pick<TaskSummary, 'question'> {
  if (question === undefined) return {}
  const { consent, choices, schema } = question
  return {
    question: {
      prompt: textOf(question.message),
      ...(choices === undefined ? {} : { choices }),
      ...(schema === undefined ? {} : { schema }),
      ...(consent === undefined
        ? {}
        : { consentId: consent.consentId, operation: consent.operation, digest: consent.digest }),
    },
  }
}

/** One sentence about the state of the task. */
function sentenceOf(task: Task, now: number): string {
  const { state, suspension, pausing, question, statusMessage } = task
  if (task.holds.length > 0 && !isTerminal(state))
    return `Held by an operator. ${stopText(task, now)}`
  if (suspension !== undefined) return stopText(task, now)
  if (question !== undefined) return `Asks: ${textOf(question.message)}`
  if (pausing !== undefined) return 'Pausing: the step in flight finishes first'
  const text = statusMessage === undefined ? '' : textOf(statusMessage)
  return text === '' ? words[state] : text
}

function stopText({ suspension }: Task, now: number): string {
  if (suspension === undefined) return 'It does not start before the hold is lifted'
  const { actor, initiator, reason } = suspension
  const who = initiator === 'agent' ? 'Parked' : `Paused by ${actor.kind} ${actor.id}`
  const why = reason === undefined || reason === '' ? '' : `: ${reason}`
  return `${who}${why}. Wakes ${wakesOf(suspension, now)}`
}

function wakesOf({ conditions, deadlineAt, children = [] }: Suspension, now: number): string {
  const deadline = deadlineAt === undefined ? undefined : toIso(deadlineAt)
  return waitText(conditions, deadline, now, { children })
}

const words: Readonly<Record<Task['state'], string>> = {
  submitted: 'Waits for a free slot',
  working: 'Working',
  'input-required': 'Asks for input',
  'auth-required': 'Asks for authentication',
  'user-consent-required': 'Asks for consent',
  'paused-by-client': 'Paused',
  'paused-by-agent': 'Parked',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  rejected: 'Rejected',
}

/** A title for people: what was asked for in words, never JSON. Without words, the agent and the first words in the data. */
function titleOf(task: Task): string {
  const [first] = task.history
  if (first === undefined) return ''
  const text = textOf(first).trim()
  if (text !== '' && !/^[[{]/.test(text)) return text
  const part = first.parts.find((one) => 'data' in one)
  const data = part === undefined ? parsed(text) : part.data
  const words = wordsIn(data, DEEPEST)
  return words === undefined ? `A task of ${task.agent}` : `${task.agent}: ${words}`
}

/** How deep in data words are looked for. */
const DEEPEST = 6
const MOST_MEMBERS = 20

/** The first text in it. */
function wordsIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  for (const member of Object.values(value).slice(0, MOST_MEMBERS)) {
    const words = wordsIn(member, depth - 1)
    if (words !== undefined) return words
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function short(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}
