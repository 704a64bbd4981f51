import { expect, it, vi } from 'vitest'
import { createClient } from '../client/create-client.ts'
import { openKeyedServer } from '../server/test-support/keyed-server.ts'
import { followTimeline } from './follow-timeline.ts'

it('shows the credential of the environment, so that steps are seen on servers that ask for keys', async () => {
  const server = await openKeyedServer()
  const scopes = ['tasks:read', 'tasks:write', 'ops:read'] as const
  const { key, headers } = await server.mint({ tenant: 'acme', principal: 'ci', scopes })
  const { url } = server.serving
  const script = JSON.stringify({ script: [{ step: 'look', ms: 1 }, { complete: 'done' }] })
  const sent = await createClient({ url, headers }).send(script)
  if (sent.kind !== 'task') throw new Error('a task was expected')
  vi.stubEnv('LULL_TOKEN', key)
  const names: (string | undefined)[] = []
  await followTimeline(url, sent.task.id, 0, ({ name }) => names.push(name)).end(30_000)
  vi.unstubAllEnvs()
  await server.close()
  expect(names).toContain('look')
})
