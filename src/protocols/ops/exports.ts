/** `GET /ops/tasks/{id}/export` and `POST /ops/imports`. */
import { z } from 'zod'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import { flag } from './read-query.ts'
import { fromVerb, type OpsRoute, route } from './route.ts'

const members = z.record(z.string(), z.unknown())

/** A signed header, and the records of the log. */
const taskExport = z.object({ header: members, records: z.array(members) })

const exportQuery = z.strictObject({ redacted: flag, tenant: z.string().optional() })

export const showExport: OpsRoute = route('export', {
  scope: 'ops:read',
  about: 'The whole log of a task with a signed header, for a file that outsiders can verify',
  query: exportQuery,
  answer: taskExport,
  handle: (engine, caller, { id, query: { redacted } }) =>
    engine.exportTask(caller, { taskId: id, redacted }),
})

const importQuery = z.strictObject({
  /** As `start` of the body, for JSON Lines. */
  start: flag,
  tenant: z.string().optional(),
})

export const importTask: OpsRoute = route('import', {
  ...fromVerb(operatorVerbs.importTask),
  about:
    'Takes over a task from an export, as JSON or as JSON Lines, after checking it; an open task arrives held',
  query: importQuery,
  // As `lull export` writes it: the header, then one record per line.
  fromLines: ([header, ...records]) => ({ header, records }),
  answer: z.object({
    taskId: z.string(),
    state: z.string(),
    records: z.number(),
    /** Lifting it lets the task go on. */
    holdId: z.string().optional(),
    missingChildren: z.array(z.string()),
  }),
  async handle(engine, caller, { body, query }) {
    const { start: also } = query
    return engine.importTask(caller, body.start === undefined ? { ...body, start: also } : body)
  },
})
