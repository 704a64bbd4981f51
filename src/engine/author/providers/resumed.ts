import type { Actor, Wake } from '../../../core/suspension.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import type { ReminderProvider } from './provider.ts'

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
  const { reason, stoppedAt, stoppedBy, resumedAt, resumedBy, cause, event, input } = wake
  const why = reason === undefined ? '' : ` (${reason})`
  const where = lastTurn === 0 ? 'before your first turn' : `after turn ${lastTurn}`
  const by = event?.type ?? (resumedBy && nameOf(resumedBy))
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
