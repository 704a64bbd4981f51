/** The reminders a turn gets after a wake: what happened while the agent was away. */
import { toIso } from './instant.ts'
import type { Reminder } from './reminders.ts'
import type { Wake } from './suspension.ts'

const once = {
  preserveOnCompact: false,
  propagate: 'none',
  roleHint: 'system',
  mode: 'wait_for_completion',
  ttlTurns: 1,
  source: 'lull',
} as const

/** Stopped when, why, by whom; woken by what. */
export function continuity(wake: Wake, id: string, at: number): Reminder {
  const why = wake.reason === undefined ? '' : ` (${wake.reason})`
  const body = [
    `You were stopped at ${toIso(wake.stoppedAt)} by ${wake.stoppedBy.kind} ${wake.stoppedBy.id}${why}`,
    `and go on at ${toIso(wake.resumedAt)}: ${wake.cause}${eventName(wake)}.`,
  ].join(' ')
  return { ...once, id, body, tags: ['continuity'], acceptedAt: at }
}

/** What a turn sees in place of the transcript after `continueTranscript: false`. */
export function digestReminder(digest: string, continuityId: string, at: number): Reminder {
  const body = `Digest of what happened before the stop:\n${digest}`
  return {
    ...once,
    id: `${continuityId}-digest`,
    body,
    tags: ['continuity', 'digest'],
    acceptedAt: at,
  }
}

function eventName(wake: Wake): string {
  return wake.event === undefined ? '' : ` by ${wake.event.type}`
}
