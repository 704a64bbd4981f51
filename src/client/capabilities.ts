/** The capabilities on a card. Version 0.3 has fields of the RFCs; both versions have the parameters of the extensions. */
import type { JsonObject } from '../core/json.ts'
import type { Propagate, RoleHint } from '../core/reminders.ts'
import { type PauseMode, pauseModes, type ResumeCause, resumeCauses } from '../core/suspension.ts'
import { REMINDERS, TASK_CONTROL, USER_CONSENT } from './extensions.ts'
import { isTrue, listIn, objectIn, textIn, textsIn } from './wire/json-members.ts'

export interface Capabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  /** `pause` and `resume`. Absent on the card means no. */
  readonly pause: boolean
  readonly modes: readonly PauseMode[]
  /** An agent or a worker can park a task. */
  readonly awaitResumption: boolean
  readonly resumeCauses: readonly ResumeCause[]
  /** A pause may say what wakes the task: an event, a schedule, a deadline. */
  readonly conditions: boolean
  readonly reminders: ReminderCapabilities
  /** A consent has an id, and the answer names it. */
  readonly consent: boolean
}

export interface ReminderCapabilities {
  readonly inject: boolean
  readonly emit: boolean
  readonly propagate: readonly Propagate[]
  readonly roleHints: readonly RoleHint[]
}

export function readCapabilities(card: JsonObject): Capabilities {
  const given = objectIn(card, 'capabilities')
  const control = extensionIn(given, TASK_CONTROL)
  const injected = extensionIn(given, REMINDERS) ?? objectIn(given, 'reminders')
  const causes = onlyWords(control ?? given, 'resumeCauses', resumeCauses)
  return {
    streaming: isTrue(given, 'streaming'),
    pushNotifications: isTrue(given, 'pushNotifications'),
    pause: isTrue(control, 'pause') || isTrue(given, 'supportsPause'),
    modes: onlyWords(control, 'modes', pauseModes),
    awaitResumption: isTrue(control, 'selfPark') || isTrue(given, 'supportsAwaitResumption'),
    resumeCauses: causes,
    conditions: causes.includes('condition_fired') || causes.includes('timeout'),
    reminders: {
      inject: isTrue(injected, 'inject'),
      emit: isTrue(injected, 'emit'),
      propagate: onlyWords(injected, 'propagate', ['session', 'none', 'all']),
      roleHints: onlyWords(injected, 'roleHints', ['system', 'developer']),
    },
    consent: extensionIn(given, USER_CONSENT) !== undefined,
  }
}

/** @returns the parameters of the extension; undefined when the card does not list it */
function extensionIn(capabilities: JsonObject | undefined, uri: string): JsonObject | undefined {
  const found = listIn(capabilities, 'extensions').find((one) => textIn(one, 'uri') === uri)
  if (found === undefined) return undefined
  return objectIn(found, 'params') ?? {}
}

function onlyWords<W extends string>(
  value: JsonObject | undefined,
  name: string,
  words: readonly W[],
): readonly W[] {
  const given = textsIn(value, name)
  return words.filter((word) => given.includes(word))
}
