/**
 * Lull's extensions on a card (A2A 1.0 §4.4.4). None is required, because a required extension
 * excludes clients without it.
 */
import { pauseModes, resumeCauses } from '../../../core/suspension.ts'
import type { Version } from '../addresses/versions.ts'
import {
  INPUT,
  RECEIPTS,
  REMINDERS,
  RFC_NOTIFICATIONS,
  TASK_CONTROL,
  USER_CONSENT,
} from '../extensions.ts'
import type { RemindersParams } from '../schemas/reminders.ts'
import type { TaskControlParams } from '../schemas/task-control.ts'
import type { UserConsentParams } from '../schemas/user-consent.ts'
import type { CardSource } from './card-options.ts'

/**
 * The parameters of the reminders extension. `capabilities.reminders` of a 0.3 card has the same
 * content.
 */
export const remindersParams: RemindersParams = {
  inject: true,
  emit: true,
  propagate: ['session', 'none', 'all'],
  roleHints: ['system', 'developer'],
}

/** The core state that replaces `consent-required`, per version. */
const consentStates: Readonly<Record<Version, (configured: string) => string>> = {
  '1.0': (state) => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`,
  '0.3': () => 'input-required',
}

export function extensionCards(source: CardSource, version: Version): readonly object[] {
  const working = version === '1.0' ? 'TASK_STATE_WORKING' : 'working'
  const control = {
    uri: TASK_CONTROL,
    description: 'Pause, resume and self-park of tasks',
    required: false,
    params: {
      pause: true,
      selfPark: true,
      modes: [...pauseModes].reverse(),
      resumeCauses,
      substateOf: { 'paused-by-client': working, 'paused-by-agent': working },
    } satisfies TaskControlParams,
  }
  const reminders = {
    uri: REMINDERS,
    description: 'Ambient reminders for coming turns',
    required: false,
    params: remindersParams,
  }
  const consent = {
    uri: USER_CONSENT,
    description: 'Explicit consent of the user, bound to one operation',
    required: false,
    params: {
      inBand: true,
      substateOf: { 'user-consent-required': consentStates[version](source.consentState) },
    } satisfies UserConsentParams,
  }
  const notifications = {
    uri: RFC_NOTIFICATIONS,
    description: 'JSON-RPC notification frames of the PAUSED and reminder RFCs on streams',
    required: false,
  }
  const receipts = {
    uri: RECEIPTS,
    description: 'Signed receipts of every stop and wake of a task',
    required: false,
  }
  const input = {
    uri: INPUT,
    description: 'The JSON Schema of the first data part of a message that starts a task',
    required: false,
    params: { schema: source.input },
  }
  return [
    ...(source.input === undefined ? [] : [input]),
    ...(source.pause ? [control] : []),
    ...(source.reminders ? [reminders] : []),
    ...(source.consent ? [consent, receipts] : []),
    ...(source.pause || source.reminders ? [notifications] : []),
  ]
}
