/** The server of this page: `/ops` for what is seen, A2A for what is done to a task. */

import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create-client.ts'
import { createOps } from '../../src/client/ops.ts'
import type { TaskSummary } from '../../src/wire/ops.ts'

export const ops = createOps({ url: location.origin, tenant: '*' })

export function clientFor({ tenant }: Pick<TaskSummary, 'tenant'>): Client {
  return createClient({ url: location.origin, tenant: tenant === 'default' ? undefined : tenant })
}

export async function emit(
  task: TaskSummary,
  type: string,
  subject: string | undefined,
  data: unknown,
): Promise<void> {
  const response = await fetch(`/events?tenant=${encodeURIComponent(task.tenant)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify({
      specversion: '1.0',
      id: crypto.randomUUID(),
      source: 'lull/dashboard',
      type,
      ...(subject === undefined ? {} : { subject }),
      ...(data === undefined ? {} : { data }),
    }),
  })
  if (!response.ok) throw new Error(`The server refused the event (HTTP ${response.status})`)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
