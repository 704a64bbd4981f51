/** Every route of `/ops`. */
import { z } from 'zod'
import { jsonSchemaOf } from '../../engine/author/standard-schema.ts'
import { type OpsRouteName, opsStreamAddresses } from '../../wire/ops/routes.ts'
import { actRoutes } from './acts.ts'
import { liftHold, listHolds, placeHold, previewHold, showHold } from './holds.ts'
import { importTask, showExport, showLog } from './log.ts'
import { openApi } from './openapi.ts'
import { showOverview } from './overview.ts'
import { budgetRoutes, ruleRoutes } from './policies.ts'
import { type OpsRoute, type OpsStream, readsTasks, route } from './route.ts'
import { scheduleRoutes } from './schedules.ts'
import { listQueues, listWorkers, readAudit, showMe } from './server.ts'
import { taskSummary } from './task-summary.ts'
import { forkTask, listTasks, showReceipts, showTask, showWebhooks } from './tasks.ts'
import { timelineEntry, timelinePosition } from './timeline.ts'
import { listWaiting } from './waiting.ts'

const agents: OpsRoute = route('agents', {
  ...readsTasks,
  about: 'The agents of this server',
  answer: z.object({
    agents: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        /** The JSON Schema of the message that starts a task. Absent: any message does. */
        input: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
  }),
  handle: async (engine) => ({
    agents: [...engine.agents.values()].map(({ name, description, input }) => {
      const schema = input && jsonSchemaOf(input)
      return { name, description, ...(schema === undefined ? {} : { input: schema }) }
    }),
  }),
})

const document: OpsRoute = route('openapi', {
  scope: 'ops:read',
  about: 'This interface as an OpenAPI 3.1 document',
  answer: z.record(z.string(), z.unknown()),
  handle: async () => openApi(opsRoutes, opsStreams),
})

const routes: Readonly<Record<OpsRouteName, OpsRoute>> = {
  tasks: listTasks,
  task: showTask,
  receipts: showReceipts,
  log: showLog,
  webhooks: showWebhooks,
  export: showExport,
  fork: forkTask,
  ...actRoutes,
  import: importTask,
  waiting: listWaiting,
  overview: showOverview,
  me: showMe,
  agents,
  workers: listWorkers,
  queues: listQueues,
  holds: listHolds,
  showHold,
  hold: placeHold,
  previewHold,
  lift: liftHold,
  ...budgetRoutes,
  ...ruleRoutes,
  audit: readAudit,
  ...scheduleRoutes,
  openapi: document,
}

export const opsRoutes: readonly OpsRoute[] = Object.values(routes)

export const opsStreams: readonly OpsStream[] = [
  streamOf('timeline', {
    about:
      'What happened to a task; with `accept: text/event-stream` also what happens from now on',
    query: z.object({ after: timelinePosition }),
    event: timelineEntry,
    page: z.object({ entries: z.array(timelineEntry), after: z.number(), more: z.boolean() }),
  }),
  streamOf('changes', {
    about: 'Tasks that change, as server-sent events',
    event: z.object({ tasks: z.array(taskSummary), more: z.boolean() }),
  }),
]

function streamOf(
  name: OpsStream['name'],
  facts: Pick<OpsStream, 'about' | 'query' | 'event' | 'page'>,
): OpsStream {
  const [method, path] = opsStreamAddresses[name]
  return { name, method, path, ...readsTasks, ...facts }
}
