import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { createClient } from '../../client/client.ts'
import { openKeyedServer } from '../../server/test-support/keyed-server.ts'
import { followTimeline } from './follow.ts'

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

it('asks again when the server answers that it is not ready', async () => {
  const entry = { seq: 3, kind: 'step', name: 'look' }
  let asked = 0
  const server = createServer((_request, response) => {
    if (asked++ === 0) response.writeHead(503).end()
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`id: 3\ndata: ${JSON.stringify(entry)}\n\n`)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const names: (string | undefined)[] = []
  const see = ({ name }: { readonly name?: string | undefined }) => names.push(name)
  await followTimeline(`http://127.0.0.1:${port}`, 'task-1', 0, see).end(60_000)
  server.close()
  expect(names).toEqual(['look'])
})
