/** Which control an agent offers to those who send it tasks. Cards and capabilities say the same in every protocol. */
import type { Agent } from '../author/agent.ts'

export interface Offers {
  readonly pause: boolean
  readonly reminders: boolean
}

/** An agent that only replies has no tasks: there is nothing to pause or to remind. */
export function offersOf({ run, pause, reminders }: Agent): Offers {
  const hasTasks = run !== undefined
  return { pause: hasTasks && pause !== false, reminders: hasTasks && reminders !== false }
}
