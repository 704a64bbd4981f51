/** Every verb, under the name of its method of the engine. */
import { type CancelRequest, cancelVerb } from './cancel-task.ts'
import { type CheckedForkRequest, forkVerb } from './fork/fork-task.ts'
import { type ParkTaskRequest, type PauseRequest, parkVerb, pauseVerb } from './pause-task.ts'
import {
  type ClearRemindersRequest,
  clearRemindersVerb,
  type RemindRequest,
  remindVerb,
} from './remind/reminders.ts'
import { type CheckedResumeRequest, resumeVerb } from './resume-task.ts'
import type { Verb } from './verb.ts'

interface Verbs {
  readonly pause: Verb<PauseRequest>
  readonly park: Verb<ParkTaskRequest>
  readonly resume: Verb<CheckedResumeRequest>
  readonly cancel: Verb<CancelRequest>
  readonly fork: Verb<CheckedForkRequest>
  readonly remind: Verb<RemindRequest>
  readonly clearReminders: Verb<ClearRemindersRequest>
}

export type VerbName = keyof Verbs

export const verbs: Verbs = {
  pause: pauseVerb,
  park: parkVerb,
  resume: resumeVerb,
  cancel: cancelVerb,
  fork: forkVerb,
  remind: remindVerb,
  clearReminders: clearRemindersVerb,
}
