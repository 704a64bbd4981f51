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
} from './inputs/agent-calls.ts'
export { eventFilter, resumeConditions } from './inputs/conditions.ts'
export {
  cancelInput,
  forkInput,
  holdInput,
  parkInput,
  parkTaskInput,
  pauseInput,
  resumeInput,
} from './inputs/control.ts'
export { cloudEvent } from './inputs/events.ts'
export { artifactFacts, message, part } from './inputs/message.ts'
export { refillInput, ruleInput, setBudgetInput } from './inputs/policies.ts'
export { jsonObject } from './inputs/primitives.ts'
export { listInput, subscribeInput, waitInput } from './inputs/reading.ts'
export {
  clearRemindersInput,
  listReceiptsInput,
  listRemindersInput,
  reminderInput,
  remindInput,
} from './inputs/reminders.ts'
export { sendInput } from './inputs/sending.ts'
export * from './inputs/unions.ts'
export { json } from './json-input.ts'
