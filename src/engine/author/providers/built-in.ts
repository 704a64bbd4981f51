/** The providers of an agent: the four built-in ones and its own. */

import { LullError } from '../../../core/errors.ts'
import type { UsageReport } from '../../../core/records.ts'
import type { Actor, Wake } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { type Duration, durationMs } from '../../../core/values/duration.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { Json } from '../../../core/values/json.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import type { RemindedAgent, ReminderProvider, ReminderProviders } from './provider.ts'

/** The built-in providers. They are active unless the agent's `providers` switches them off. */
const builtIn: Readonly<Record<string, ReminderProvider>> = {
  resumed: resumed(),
  tokenPressure: tokenPressure(),
  toolOutputTruncated: toolOutputTruncated(),
  idle: idle(),
}

const known = new WeakMap<RemindedAgent, readonly (readonly [string, ReminderProvider])[]>()

/** The active providers: built-in ones first, then the agent's own. */
export function providersOf(
  agent: RemindedAgent,
): readonly (readonly [string, ReminderProvider])[] {
  const found = known.get(agent)
  if (found !== undefined) return found
  const wanted = Object.entries({ ...builtIn, ...agent.providers }).flatMap(([name, provider]) => {
    const watch = provider === true ? builtIn[name] : provider
    return watch === undefined || watch === false ? [] : [[name, watch] as const]
  })
  const active = agent.reminders === false ? [] : wanted
  known.set(agent, active)
  return active
}

/** @throws LullError `INVALID_INPUT` */
export function checkProviders(providers: ReminderProviders): void {
  for (const [name, provider] of Object.entries(providers)) {
    const fits =
      typeof provider === 'function' ||
      provider === false ||
      (provider === true && Object.hasOwn(builtIn, name))
    if (fits) continue
    const problem = `must be a function or false, or true for one of ${Object.keys(builtIn).join(', ')}`
    throw new LullError('INVALID_INPUT', { path: `providers.${name}`, problem })
  }
}

const INPUT_LIMIT = 1_000
const DIGEST_LIMIT = 16_000

/** The reminder is shown in one turn only. */
const once = {
  ttlTurns: 1,
  propagate: 'none',
  mode: 'wait_for_completion',
  source: 'lull',
} as const satisfies Partial<ReminderRequest>

/**
 * Informs the first turn after a stop when, why and by whom the task was stopped, and what ended
 * the stop. Includes the digest if one replaced the transcript.
 *
 * @example
 * ```ts
 * import { agent, resumed } from 'lull'
 *
 * export const waiter = agent({
 *   name: 'waiter',
 *   description: 'Is told why its stop ended',
 *   providers: { stops: resumed() },
 *   async run(task) {
 *     await task.park({ reason: 'waiting for an event', onEvent: 'build.done' })
 *     return `Reminders: ${task.reminderBlock}`
 *   },
 * })
 * ```
 */
export function resumed(): ReminderProvider {
  return (input) => {
    if (input.type !== 'turn-starting' || input.wake === undefined) return undefined
    const { wake, digest, turn } = input
    // Two turns that start at the same time get the same wake. The id makes sure that the reminder
    // is added once.
    const id = `${wake.handle}-continuity`
    const continuity = {
      ...once,
      id,
      body: account(wake, turn - 1),
      tags: ['continuity'],
      dedupeKey: 'provider:resumed',
    }
    if (digest === undefined) return continuity
    const body = `Digest of what happened before the stop:\n${clipped(digest, DIGEST_LIMIT)}`
    const tags = ['continuity', 'digest']
    return [
      continuity,
      { ...once, id: `${id}-digest`, body, tags, dedupeKey: 'provider:resumed:digest' },
    ]
  }
}

function account(wake: Wake, lastTurn: number): string {
  const { reason, stoppedAt, stoppedBy, resumedAt, resumedBy, cause, event, child, input } = wake
  const why = reason === undefined ? '' : ` (${reason})`
  const where = lastTurn === 0 ? 'before your first turn' : `after turn ${lastTurn}`
  const ended = child && `child ${child.taskId}, which is ${child.state}`
  const by = ended ?? event?.type ?? (resumedBy && nameOf(resumedBy))
  return [
    `You were stopped ${where} at ${toIso(stoppedAt)} by ${nameOf(stoppedBy)}${why}`,
    `and go on at ${toIso(resumedAt)}: ${cause}${by === undefined ? '' : ` by ${by}`}.`,
    input === null
      ? 'You were given no input.'
      : `You were given: ${clipped(JSON.stringify(input), INPUT_LIMIT)}`,
  ].join(' ')
}

function nameOf({ kind, id }: Actor): string {
  return `${kind} ${id}`
}

function clipped(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`
}

export interface TokenPressureOptions {
  /**
   * The size of the model's context window in tokens. `contextWindow` of a usage report takes
   * precedence.
   */
  readonly window?: number
}

interface Level {
  readonly from: number
  readonly tag: string
  readonly advice: string
}

/** The highest level comes first. */
const levels: readonly Level[] = [
  { from: 0.95, tag: 'critical', advice: 'Finish now, or hand over what you have.' },
  { from: 0.85, tag: 'warning', advice: 'Keep to what is needed to finish.' },
  { from: 0.7, tag: 'caution', advice: 'Be brief, and leave out what you do not need.' },
]

/**
 * Warns at 70, 85 and 95 percent of the model's context window, based on the reports of
 * `task.usage`. Adds nothing while a reminder of the same level is pending, or if the size of the
 * window is not known.
 *
 * @example
 * ```ts
 * import { agent, tokenPressure } from 'lull'
 *
 * export const writer = agent({
 *   name: 'writer',
 *   description: 'Is warned when the window of its model fills up',
 *   providers: { tokens: tokenPressure({ window: 200_000 }) },
 *   async run(task) {
 *     await task.usage({ inputTokens: 150_000, outputTokens: 2_000 })
 *     return `Reminders: ${task.reminderBlock}`
 *   },
 * })
 * ```
 */
export function tokenPressure({ window }: TokenPressureOptions = {}): ReminderProvider {
  return (input, task) => {
    if (input.type !== 'usage') return undefined
    const filled = fillOf(input.usage, window)
    const level = levels.find(({ from }) => filled >= from)
    if (level === undefined || isPending(task, level)) return undefined
    const percent = Math.floor(filled * 100)
    return {
      body: `${percent} percent of the context window are used. ${level.advice}`,
      tags: ['token-pressure', level.tag],
      dedupeKey: DEDUPE_KEY,
      ttlTurns: 2,
      preserveOnCompact: level.tag === 'critical',
      roleHint: 'developer',
      source: 'lull',
    }
  }
}

const DEDUPE_KEY = 'provider:tokenPressure'

function fillOf(usage: UsageReport, configured: number | undefined): number {
  const { inputTokens = 0, outputTokens = 0, contextWindow = configured } = usage
  return contextWindow === undefined ? 0 : (inputTokens + outputTokens) / contextWindow
}

function isPending({ reminders }: Task, { tag }: Level): boolean {
  return reminders.some(
    ({ reminder }) => reminder.dedupeKey === DEDUPE_KEY && reminder.tags.includes(tag),
  )
}

export interface ToolOutputTruncatedOptions {
  /** Whether a result is incomplete. Default: it is an object with `truncated: true`. */
  readonly isTruncated?: (result: Json) => boolean
}

/**
 * Warns that the result of a tool or step is incomplete.
 *
 * @example
 * ```ts
 * import { agent, toolOutputTruncated } from 'lull'
 *
 * export const searcher = agent({
 *   name: 'searcher',
 *   description: 'Is told that it saw only the first results',
 *   providers: { truncated: toolOutputTruncated() },
 *   async run(task) {
 *     await task.step('search', () => ({ hits: ['a', 'b'], truncated: true }))
 *     return `Reminders: ${task.reminderBlock}`
 *   },
 * })
 * ```
 */
export function toolOutputTruncated({
  isTruncated = saysSo,
}: ToolOutputTruncatedOptions = {}): ReminderProvider {
  return (input) => {
    if (input.type !== 'step' || input.result === undefined) return undefined
    if (!isTruncated(input.result)) return undefined
    return {
      body: `The output of "${input.name}" was cut off: what you have is not all of it.`,
      tags: ['truncation'],
      dedupeKey: `provider:toolOutputTruncated:${input.name}`.slice(0, 256),
      ttlTurns: 1,
      propagate: 'none',
      source: 'lull',
    }
  }
}

function saysSo(result: Json): boolean {
  return (
    typeof result === 'object' &&
    result !== null &&
    !Array.isArray(result) &&
    'truncated' in result &&
    result['truncated'] === true
  )
}

/**
 * Reminds a turn that nothing was recorded for `afterMs` before it, for example in a loop that polls. A stop does not
 * count, because `resumed` reports it.
 *
 * @example
 * ```ts
 * import { agent, idle } from 'lull'
 *
 * export const poller = agent({
 *   name: 'poller',
 *   description: 'Is told when nothing happened for five minutes',
 *   providers: { idle: idle({ afterMs: '5 minutes' }) },
 *   run: (task) => `Reminders: ${task.reminderBlock}`,
 * })
 * ```
 */
export function idle({ afterMs = 60_000 }: { readonly afterMs?: Duration } = {}): ReminderProvider {
  const longest = durationMs(afterMs, 'afterMs')
  return (input) => {
    if (input.type !== 'turn-starting' || input.idleMs < longest) return undefined
    const seconds = Math.floor(input.idleMs / 1_000)
    return {
      body: `Nothing happened for ${seconds} seconds before this turn. Go on, or come to an end.`,
      tags: ['idle'],
      ttlTurns: 1,
      propagate: 'none',
      source: 'lull',
    }
  }
}
