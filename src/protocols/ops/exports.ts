/** `GET /ops/tasks/{id}/export`. */
import { z } from 'zod'
import { flag, readQuery } from './read-query.ts'
import type { OpsRoute } from './route.ts'

const members = z.record(z.string(), z.unknown())

/** A signed header, and the records of the log. */
const taskExport = z.object({ header: members, records: z.array(members) })

const exportQuery = z.strictObject({ redacted: flag, tenant: z.string().optional() })

export const showExport: OpsRoute = {
  method: 'GET',
  path: '/ops/tasks/{id}/export',
  scope: 'ops:read',
  about: 'The whole log of a task with a signed header, for a file that outsiders can verify',
  query: exportQuery,
  answer: taskExport,
  handle: (engine, caller, { id, query }) => {
    const { redacted } = readQuery(exportQuery, query)
    return engine.exportTask(caller, { taskId: id, redacted })
  },
}
