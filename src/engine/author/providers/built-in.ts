/** The providers of an agent: the four built-in ones and its own. */
import { LullError } from '../../../core/errors.ts'
import { idle } from './idle.ts'
import type { RemindedAgent, ReminderProvider, ReminderProviders } from './provider.ts'
import { resumed } from './resumed.ts'
import { tokenPressure } from './token-pressure.ts'
import { toolOutputTruncated } from './tool-output-truncated.ts'

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
