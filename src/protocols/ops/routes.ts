/** Every route of `/ops`. */
import { z } from 'zod'
import { jsonSchemaOf } from '../../engine/author/standard-schema.ts'
import { readAudit } from './audit.ts'
import { budgetRoutes } from './budgets.ts'
import { importTask, showExport } from './exports.ts'
import { liftHold, listHolds, placeHold, previewHold, showHold } from './holds.ts'
import { showLog } from './log.ts'
import { openApi } from './openapi.ts'
import { listQueues } from './queues.ts'
import type { OpsRoute, OpsStream } from './route.ts'
import { ruleRoutes } from './rules.ts'
import { scheduleRoutes } from './schedules.ts'
import { forkTask, listTasks, showReceipts, showTask } from './tasks.ts'
import { listWaiting } from './waiting.ts'
import { showWebhooks } from './webhooks.ts'
import { listWorkers } from './workers.ts'

const agents: OpsRoute = {
  method: 'GET',
  path: '/ops/agents',
  scope: 'ops:read',
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
}

const document: OpsRoute = {
  method: 'GET',
  path: '/ops/openapi.json',
  scope: 'ops:read',
  about: 'This interface as an OpenAPI 3.1 document',
  answer: z.record(z.string(), z.unknown()),
  handle: async () => openApi(opsRoutes, opsStreams),
}

export const opsRoutes: readonly OpsRoute[] = [
  listTasks,
  showTask,
  showReceipts,
  showLog,
  showWebhooks,
  showExport,
  forkTask,
  importTask,
  listWaiting,
  agents,
  listWorkers,
  listQueues,
  listHolds,
  showHold,
  placeHold,
  previewHold,
  liftHold,
  ...budgetRoutes,
  ...ruleRoutes,
  readAudit,
  ...scheduleRoutes,
  document,
]

export const opsStreams: readonly OpsStream[] = [
  {
    method: 'GET',
    path: '/ops/tasks/{id}/timeline',
    scope: 'ops:read',
    about:
      'What happened to a task; with `accept: text/event-stream` also what happens from now on',
  },
  {
    method: 'GET',
    path: '/ops/changes',
    scope: 'ops:read',
    about: 'Tasks that change, as server-sent events',
  },
]
