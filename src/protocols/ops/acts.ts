/**
 * `POST /ops/tasks/{id}/…`: what people do to a task. Scope, schema and operation are those of the verb; the parameters are
 * those of A2A 1.0, without the id of the task.
 */
import { z } from 'zod'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import { type Caller, reachScopes } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Checked, check } from '../../engine/input/parse.ts'
import type { VerbInput } from '../../engine/requests/verb.ts'
import { verbs } from '../../engine/requests/verbs.ts'
import type { OpsAnswers } from '../../wire/ops/routes.ts'
import { type OpsRoute, route } from './route.ts'
import { summaryOf, taskSummary } from './task-summary.ts'

export type ActRouteName = 'pauseTask' | 'resumeTask' | 'cancelTask' | 'remindTask' | 'answerTask'

interface ActRoute<N extends ActRouteName, T> {
  readonly about: string
  readonly answer: z.ZodType<OpsAnswers[N]>
  readonly run: (
    engine: Engine,
    caller: Caller,
    request: Checked<T>,
    summary: (task: Task) => ReturnType<typeof summaryOf>,
  ) => Promise<OpsAnswers[N]>
}

function act<N extends ActRouteName, T extends object>(
  name: N,
  verb: VerbInput<T>,
  { about, answer, run }: ActRoute<N, T>,
): OpsRoute {
  return route<ActRouteName, z.ZodObject, object>(name, {
    // Operators control tasks, and answer none.
    scope: verb.act === 'answer' ? 'tasks:answer:all' : 'ops:control',
    ownScopes: [verb.scope, reachScopes[verb.act]],
    about,
    body: withoutTask(verb.input),
    absentBody: {},
    answer,
    handle: (engine, caller, { id, body, now }) =>
      run(engine, caller, check(verb.input, { ...body, taskId: id }), (task) =>
        summaryOf(task, now),
      ),
  })
}

/** The schema of a request whose task is named in the path. */
function withoutTask(input: z.ZodType): z.ZodType<object> {
  if (!(input instanceof z.ZodObject)) throw new Error('the request of a verb is an object')
  return input.omit({ taskId: true })
}

const pauseTask = act('pauseTask', verbs.pause, {
  about: 'Pauses a task at its next boundary',
  answer: taskSummary,
  async run(engine, caller, request, summary) {
    await engine.pause(caller, request)
    return summary(await engine.get(caller, request.taskId))
  },
})

const resumeTask = act('resumeTask', verbs.resume, {
  about: 'Resumes a paused or parked task',
  answer: taskSummary,
  async run(engine, caller, request, summary) {
    await engine.resume(caller, request)
    return summary(await engine.get(caller, request.taskId))
  },
})

const cancelTask = act('cancelTask', verbs.cancel, {
  about: 'Cancels a task and its sub-tasks',
  answer: taskSummary,
  run: async (engine, caller, request, summary) => summary(await engine.cancel(caller, request)),
})

const remindTask = act('remindTask', verbs.remind, {
  about: 'Reminds a task of something in its coming turns',
  answer: z.object({
    reminderId: z.string(),
    dedupedCount: z.number(),
    acceptedAt: z.iso.datetime(),
  }),
  async run(engine, caller, request) {
    const { acceptedAt, ...accepted } = await engine.remind(caller, request)
    return { ...accepted, acceptedAt: toIso(acceptedAt) }
  },
})

const answerTask = act('answerTask', verbs.answer, {
  about: 'Answers the open question or consent of a task; the first answer counts',
  answer: z.object({
    task: taskSummary,
    kept: z.boolean(),
  }),
  async run(engine, caller, request, summary) {
    const { task, isKept = false } = await engine.answer(caller, request)
    return { task: summary(task), kept: isKept }
  },
})

export const actRoutes: Readonly<Record<ActRouteName, OpsRoute>> = {
  pauseTask,
  resumeTask,
  cancelTask,
  remindTask,
  answerTask,
}
