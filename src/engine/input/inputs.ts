/**
 * The schemas of all input from callers and agents, by subject. Input is parsed once, before anything is decided or
 * written. An error has the dotted path of the mistake and a sentence. The published JSON schemas are generated from
 * these schemas.
 */
export {
  askInput,
  askOptionsInput,
  consentAnswer,
  consentInput,
  stepOptionsInput,
  transcriptEntriesInput,
  transcriptInput,
  usageInput,
} from './agent-calls.ts'
export { eventFilter, resumeConditions } from './conditions.ts'
export { holdInput, parkInput } from './control.ts'
export { cloudEvent } from './events.ts'
export { json } from './json-input.ts'
export { artifactFacts, message, part } from './message.ts'
export { refillBody, refillInput, ruleInput, setBudgetInput } from './policies.ts'
export { jsonObject } from './primitives.ts'
export { listInput, subscribeInput, waitInput } from './reading.ts'
export { listReceiptsInput, listRemindersInput, reminderInput } from './reminders.ts'
export { sendInput } from './sending.ts'
export * from './unions.ts'
