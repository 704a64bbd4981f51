/**
 * `GET /ops/overview`: what happened in the last hours, who is waited for, and what happens next. Everything is counted
 * from the store, so it is right after a restart, too.
 *
 * O1  However many tasks there are, an overview reads at most `MOST_ROWS` rows for each of its three counts, and loads at
 *     most `MOST_READ` tasks. `isCut` says that more tasks changed than were counted.
 */
import { z } from 'zod'
import { textOf } from '../../core/messages/message.ts'
import { isInterrupted, isPaused, states } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AgentFigures, Overview, OverviewSpan } from '../../wire/ops/server.ts'
import { count, type OpsRoute, route } from './route.ts'
import { summaryOf, taskSummary } from './task-summary.ts'

type Facts = Awaited<ReturnType<Engine['rows']>>[number]

const MOST_ROWS = 20_000
const MOST_READ = 500
const PAGE = 100
const SPANS = 24
const HOUR = 3_600_000
/** A question that waits at most so long is counted in the class. The last class has all others. */
const WAITS_MS = [5 * 60_000, 30 * 60_000, 2 * HOUR, 8 * HOUR, 24 * HOUR]
const NAMED = 5

const asking = states.filter(isInterrupted)
const stopped = states.filter(isPaused)

const span = z.object({
  at: z.iso.datetime(),
  started: z.number(),
  completed: z.number(),
  failed: z.number(),
  canceled: z.number(),
})

const answer: z.ZodType<Overview> = z.object({
  since: z.iso.datetime(),
  counts: z.record(z.string(), z.number()),
  spans: z.array(span),
  medianMs: z.number().optional(),
  asking: z.object({ waits: z.array(z.number()), oldest: z.array(taskSummary) }),
  waitsFor: z.array(z.object({ name: z.string(), tasks: z.number() })),
  wakes: z.array(taskSummary),
  agents: z.array(
    z.object({ agent: z.string(), tasks: z.number(), costUsd: z.number(), tokens: z.number() }),
  ),
  failures: z.array(z.object({ agent: z.string(), text: z.string(), tasks: z.number() })),
  read: z.number(),
  isCut: z.boolean(),
})

export const showOverview: OpsRoute = route('overview', {
  scope: 'ops:read',
  about: 'What happened in the last hours, who is waited for, and what happens next',
  query: z.strictObject({
    /** Default 24, at most 168. */
    hours: count,
    tenant: z.string().optional(),
  }),
  answer,
  async handle(engine, caller, { query: { hours = 24 }, now }) {
    const since = now - Math.max(1, Math.min(hours, 168)) * HOUR
    const [counts, changed, asked, still, tasks] = await Promise.all([
      engine.count(caller),
      engine.rows(caller, { statusAtFrom: since }, MOST_ROWS),
      engine.rows(caller, { states: asking }, MOST_ROWS),
      engine.rows(caller, { states: stopped }, MOST_ROWS),
      newest(engine, caller, since),
    ])
    const named = (rows: readonly Facts[]) => summaries(engine, caller, rows.slice(0, NAMED), now)
    const [oldest, wakes] = await Promise.all([
      named([...asked].sort((a, b) => a.statusAt - b.statusAt)),
      named(nextWakes([...asked, ...still])),
    ])
    return {
      since: toIso(since),
      counts: { ...counts },
      spans: spansOf(changed, since, now),
      ...medianOf(changed, since),
      asking: { waits: waitsOf(asked, now), oldest },
      waitsFor: waitsForOf(still),
      wakes,
      agents: agentsOf(tasks),
      failures: failuresOf(tasks),
      read: tasks.length,
      isCut: changed.length === MOST_ROWS,
    }
  },
})

/** O1. The tasks that changed last, for what only their logs say: cost, and why they failed. */
async function newest(engine: Engine, caller: Caller, since: number): Promise<readonly Task[]> {
  const tasks: Task[] = []
  let cursor: string | undefined
  do {
    const from = cursor === undefined ? {} : { cursor }
    const page = await engine.list(caller, { statusAtFrom: since, limit: PAGE, ...from })
    tasks.push(...page.tasks)
    cursor = page.cursor
  } while (cursor !== undefined && tasks.length < MOST_READ)
  return tasks
}

async function summaries(
  engine: Engine,
  caller: Caller,
  rows: readonly Facts[],
  now: number,
): Promise<Overview['wakes']> {
  const found = await Promise.all(
    // A task may be removed meanwhile.
    rows.map(({ id }) => engine.get(caller, id).catch(() => undefined)),
  )
  return found.flatMap((task) => (task === undefined ? [] : [summaryOf(task, now)]))
}

/** What falls due first. A held task waits for its hold, whatever its clock says. */
function nextWakes(rows: readonly Facts[]): readonly Facts[] {
  const due = ({ dueAt = Number.POSITIVE_INFINITY }: Facts): number => dueAt
  return rows
    .filter(({ dueAt, held }) => dueAt !== undefined && !held)
    .sort((a, b) => due(a) - due(b))
}

const outcomes: Readonly<Partial<Record<Facts['state'], 'completed' | 'failed' | 'canceled'>>> = {
  completed: 'completed',
  failed: 'failed',
  rejected: 'failed',
  canceled: 'canceled',
}

/** A task that has ended was changed last by its end. */
export function spansOf(
  rows: readonly Facts[],
  since: number,
  until: number,
): readonly OverviewSpan[] {
  const width = (until - since) / SPANS
  const spans = Array.from({ length: SPANS }, (_, index) => ({
    at: toIso(Math.round(since + index * width)),
    ...{ started: 0, completed: 0, failed: 0, canceled: 0 },
  }))
  const spanAt = (at: number) =>
    at < since ? undefined : spans[Math.min(SPANS - 1, Math.floor((at - since) / width))]
  for (const { state, createdAt, statusAt } of rows) {
    const begun = spanAt(createdAt)
    if (begun !== undefined) begun.started++
    const outcome = outcomes[state]
    const ended = spanAt(statusAt)
    if (outcome !== undefined && ended !== undefined) ended[outcome]++
  }
  return spans
}

function medianOf(rows: readonly Facts[], since: number): { readonly medianMs?: number } {
  const took = rows
    .filter(({ state, statusAt }) => state === 'completed' && statusAt >= since)
    .map(({ createdAt, statusAt }) => statusAt - createdAt)
    .sort((a, b) => a - b)
  const medianMs = took[Math.floor(took.length / 2)]
  return medianMs === undefined ? {} : { medianMs }
}

function waitsOf(rows: readonly Facts[], now: number): readonly number[] {
  const classes = [...WAITS_MS, Number.POSITIVE_INFINITY].map(() => 0)
  for (const { statusAt } of rows) {
    const found = WAITS_MS.findIndex((most) => now - statusAt <= most)
    const index = found < 0 ? WAITS_MS.length : found
    classes[index] = (classes[index] ?? 0) + 1
  }
  return classes
}

/** The type of an event stands for all its subjects: `ci.build.completed` for `ci.build.completed:1234`. */
export function waitsForOf(rows: readonly Facts[]): Overview['waitsFor'] {
  return tallied(
    rows.map(({ waits: [first], dueAt }) => {
      if (first === undefined) return dueAt === undefined ? 'only a resume' : 'a time or a schedule'
      return /^[\w.-]+/.exec(first)?.[0] ?? 'an event that a filter matches'
    }),
  ).map(([name, tasks]) => ({ name, tasks }))
}

function agentsOf(tasks: readonly Task[]): readonly AgentFigures[] {
  const byAgent = new Map<string, AgentFigures>()
  for (const { agent, usage } of tasks) {
    const before = byAgent.get(agent) ?? { agent, tasks: 0, costUsd: 0, tokens: 0 }
    byAgent.set(agent, {
      agent,
      tasks: before.tasks + 1,
      costUsd: before.costUsd + usage.costUsd,
      tokens: before.tokens + usage.inputTokens + usage.outputTokens,
    })
  }
  return [...byAgent.values()]
    .filter(({ costUsd, tokens }) => costUsd > 0 || tokens > 0)
    .sort((a, b) => b.costUsd - a.costUsd || b.tokens - a.tokens)
}

const REASON = 80

function failuresOf(tasks: readonly Task[]): Overview['failures'] {
  const reasons = tasks.flatMap(({ state, agent, statusMessage }) => {
    if (outcomes[state] !== 'failed') return []
    const text = statusMessage === undefined ? '' : textOf(statusMessage)
    return [JSON.stringify([agent, (text || state).slice(0, REASON)])]
  })
  return tallied(reasons).map(([key, count]) => {
    const [agent = '', text = ''] = JSON.parse(key) as string[]
    return { agent, text, tasks: count }
  })
}

/** How often each occurs, the most frequent first, and only the first few. */
function tallied(names: readonly string[]): readonly (readonly [name: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, NAMED)
}
