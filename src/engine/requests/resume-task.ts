/** Resumes a task for a caller. */
import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import type { Actor, ResumeCause } from '../../core/suspension.ts'
import type { ResumeAnswer, Task } from '../../core/task.ts'
import type { Json, JsonInput, JsonObject } from '../../core/values/json.ts'
import { actorOf, type Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { checkBySchema } from '../input/check-by-schema.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { json } from '../input/json-input.ts'
import { check } from '../input/parse.ts'
import { id, jsonObject } from '../input/primitives.ts'
import type { Verb } from './verb.ts'

export interface ResumeRequest {
  readonly taskId: string
  readonly handle?: string | null | undefined
  readonly input?: JsonInput | undefined
  /** Default true. */
  readonly continueTranscript?: boolean | undefined
  /** With `metadata.idempotencyKey`, a repeated resume returns the first answer. */
  readonly metadata?: JsonObject | undefined
}

export interface CheckedResumeRequest extends ResumeRequest {
  readonly input?: Json | undefined
}

/** An invalid key is refused. If it were ignored, a repeated resume would resume a second time. */
const resumeMetadata = jsonObject.refine(
  ({ idempotencyKey: key }) => key === undefined || id.safeParse(key).success,
  { path: ['idempotencyKey'], error: 'must be text of 1 to 256 characters' },
)

export const resumeVerb: Verb<'resume', CheckedResumeRequest> = {
  input: z.strictObject({
    taskId: id,
    handle: id.nullish(),
    input: json.optional(),
    continueTranscript: z.boolean().optional(),
    metadata: resumeMetadata.optional(),
  } satisfies FieldsOf<CheckedResumeRequest>),
  audited: 'task.resume',
  limited: false,
  scope: 'tasks:control',
  act: 'control',
  offer: 'pause',
  method:
    ({ context }) =>
    (caller, request, dialect) =>
      resume(context, caller, request, undefined, dialect),
}

/** Where a protocol's resume differs from the RFC's. */
export interface ResumeDialect {
  /** The request needs no handle, even where `requireHandle` is set. */
  readonly anyHandle?: boolean
  /** `external_event`: a message to the task wakes it. Default `explicit_resume`. */
  readonly cause?: ResumeCause & ('explicit_resume' | 'external_event')
}

export async function resume(
  context: EngineContext,
  caller: Caller,
  request: ResumeRequest,
  actor: Actor = actorOf(caller),
  dialect: ResumeDialect = {},
): Promise<ResumeAnswer> {
  const {
    taskId,
    handle,
    input = null,
    continueTranscript = true,
    metadata,
  } = check(resumeVerb.input, request)
  const idempotencyKey = keyIn(metadata)
  const { runs, options } = context
  const found = await taskFor(context, caller, taskId, resumeVerb.act)
  if (isOfThisStop(found, handle, idempotencyKey)) checkInput(found, input, dialect)
  // Holds and policies can stop a task whose agent offers no pause. Such a task can be resumed.
  if (context.agents.get(found.agent)?.pause === false && found.suspension === undefined) {
    throw new LullError('NOT_OFFERED', { agent: found.agent, capability: 'pause' })
  }
  if (found.suspension !== undefined) {
    const admitted = context.budgetChecks.admitResume(found)
    if (admitted !== undefined) await admitted
  }
  const { task } = await runs.commit(taskId, found, (_task, run) => ({
    type: 'resume',
    actor,
    cause: dialect.cause ?? 'explicit_resume',
    ...(handle === undefined || handle === null ? {} : { handle }),
    requireHandle: options.requireHandle && !dialect.anyHandle,
    input,
    continueTranscript,
    ...(run === undefined ? {} : { run }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }))
  const answer =
    idempotencyKey === undefined
      ? task.resumes.at(-1)
      : task.resumes.find((known) => known.idempotencyKey === idempotencyKey)
  if (answer === undefined) throw new LullError('TASK_NOT_PAUSED', { taskId, state: task.state })
  return answer
}

/** A resume that names another stop, or repeats one that was answered, is decided without its input. */
function isOfThisStop(
  { suspension, resumes }: Task,
  handle: string | null | undefined,
  key: string | undefined,
): boolean {
  const named = handle ?? suspension?.handle
  const repeats = key !== undefined && resumes.some((known) => known.idempotencyKey === key)
  return named === suspension?.handle && !repeats
}

/** A message that wakes the task is read by the agent. It is not the input of the resume. */
function checkInput({ suspension }: Task, input: Json, { cause }: ResumeDialect): void {
  const schema = suspension?.inputSchema
  if (schema !== undefined && cause !== 'external_event') checkBySchema(schema, input, 'input')
}

function keyIn(metadata: JsonObject | undefined): string | undefined {
  const key = metadata?.['idempotencyKey']
  return typeof key === 'string' ? key : undefined
}
