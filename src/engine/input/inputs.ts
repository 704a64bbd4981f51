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
  parkInput,
  stepOptionsInput,
  transcriptEntriesInput,
  transcriptInput,
  usageInput,
} from './agent-calls.ts'
export { eventFilter, resumeConditions } from './conditions.ts'
export { cloudEvent } from './events.ts'
export { json } from './json-input.ts'
export { artifactFacts, message, part } from './message.ts'
export { jsonObject } from './primitives.ts'
export {
  listInput,
  listReceiptsInput,
  listRemindersInput,
  reminderInput,
  subscribeInput,
  waitInput,
} from './requests.ts'
export * from './unions.ts'
