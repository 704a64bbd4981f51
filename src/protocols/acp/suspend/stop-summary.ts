/**
 * The `summary` of a suspension, as the RFC defines it: plain sentences that a client can show to
 * its user.
 */

import { textOf } from '../../../core/messages/message.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { OnTimeout, Trigger } from '../../../core/waiting/conditions.ts'

/** The most characters of the agent's last text that are quoted. */
const LONGEST_QUOTE = 200

/** The summary of a park if the agent gave one; otherwise the reason of the stop, the last text, and what wakes the task. */
export function stopSummary(task: Task, suspension: Suspension): string {
  if (suspension.summary !== undefined) return suspension.summary
  return [stopSentence(suspension), ...lastWords(task), wakeSentence(suspension)].join(' ')
}

function stopSentence({ initiator, reason }: Suspension): string {
  const verb = initiator === 'agent' ? 'Parked' : 'Suspended'
  return reason === undefined || reason === '' ? `${verb}.` : `${verb}: ${reason}.`
}

function lastWords({ history, statusMessage }: Task): readonly string[] {
  const last = [...history, statusMessage].findLast((message) => message?.role === 'ROLE_AGENT')
  const text = last === undefined ? '' : textOf(last).replace(/\s+/g, ' ').trim()
  if (text === '') return []
  const quote = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1)}…` : text
  return [`The agent said last: "${quote}".`]
}

/** What happens when the deadline of a task passes. */
const atDeadline: { readonly [A in OnTimeout]: 'goes on' | 'fails' } = {
  resume_with_summary: 'goes on',
  resume_with_input: 'goes on',
  fail: 'fails',
}

function wakeSentence({ conditions, deadlineAt, fireAt }: Suspension): string {
  const { onEvent, trigger, timeout } = conditions ?? {}
  const passing = timeout && atDeadline[timeout.onTimeout ?? 'resume_with_summary']
  const wakes = [
    ...(onEvent === undefined ? [] : [`at the event ${onEvent}`]),
    ...(trigger === undefined ? [] : [triggerWords(trigger, fireAt)]),
    ...(deadlineAt !== undefined && passing === 'goes on' ? [`at ${toIso(deadlineAt)}`] : []),
  ]
  const fails =
    deadlineAt !== undefined && passing === 'fails'
      ? ` It fails at ${toIso(deadlineAt)} if nothing wakes it before.`
      : ''
  const how = wakes.length === 0 ? 'when it is resumed' : `${wakes.join(', or ')}, or when resumed`
  return `It goes on ${how}.${fails}`
}

function triggerWords(trigger: Trigger, fireAt: number | undefined): string {
  if ('filter' in trigger) return 'at an event that its trigger matches'
  return fireAt === undefined ? 'when its trigger fires' : `at ${toIso(fireAt)}`
}
