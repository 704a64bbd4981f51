/** Who may call what over gRPC: as over HTTP, and nothing more. */
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KeyedServer, type MintedKey, openKeyedServer } from '../test-support/keyed-server.ts'
import { type GrpcClient, type Loose, openGrpcClient } from './test-support/grpc-client.ts'

let server: KeyedServer
let client: GrpcClient
let ann: MintedKey
let eve: MintedKey
let reader: MintedKey

beforeAll(async () => {
  server = await openKeyedServer()
  client = openGrpcClient(`127.0.0.1:${server.serving.port}`, 'lf.a2a.v1.A2AService')
  const scopes = ['tasks:read', 'tasks:write', 'tasks:control'] as const
  ann = await server.mint({ tenant: 'acme', principal: 'ann', scopes })
  eve = await server.mint({ tenant: 'evil', principal: 'ann', scopes })
  reader = await server.mint({ tenant: 'acme', principal: 'bob', scopes: ['tasks:read'] })
})
afterAll(async () => {
  client.close()
  await server.close()
})

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
const send = (metadata: Record<string, string>): Promise<Loose> =>
  client.call('SendMessage', { message }, { metadata })

const audited = async (code: string): Promise<number> => {
  const operator = { tenant: 'acme', principal: 'op', operator: true }
  const entries = await server.serving.engine.audit.read(operator, {})
  return entries.filter(({ outcome }) => outcome === code).length
}

it('refuses a call without a credential, and one with a wrong one', async () => {
  await expect(send({})).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  await expect(send({ authorization: 'Bearer lull_a_b' })).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
  })
})

it('refuses a call without its scope, and notes that', async () => {
  const before = await audited('FORBIDDEN')
  await expect(send(reader.headers)).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
  await expect.poll(() => audited('FORBIDDEN')).toBe(before + 1)
})

it('does not find the tasks of another tenant, whatever the call names', async () => {
  const { task } = await send(ann.headers)
  const get = (key: MintedKey, tenant = ''): Promise<Loose> =>
    client.call('GetTask', { id: task.id, tenant }, { metadata: key.headers })
  expect((await get(ann)).id).toBe(task.id)
  expect((await get(ann, 'acme')).id).toBe(task.id)
  await expect(get(eve)).rejects.toMatchObject({ code: status.NOT_FOUND })
  await expect(get(eve, 'acme')).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
  await expect(get(eve, 'agents/script/acme')).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  })
})

it('ends a stream when its credential is revoked', async () => {
  const key = await server.mint({
    tenant: 'acme',
    principal: 'ann',
    scopes: ['tasks:read', 'tasks:write'],
  })
  const script = {
    message: { ...message, parts: [{ text: '{"script":[{"park":{"reason":"wait"}}]}' }] },
  }
  const stream = client.stream('SendStreamingMessage', script, { metadata: key.headers })
  await new Promise((resolve) => stream.once('data', resolve))
  const ended = new Promise<Loose>((resolve) => stream.once('error', resolve))
  await server.keys.revoke(key.id, Date.now())
  expect((await ended).code).toBe(status.CANCELLED)
})

it('answers health and reflection without a credential', async () => {
  const health = openGrpcClient(`127.0.0.1:${server.serving.port}`, 'grpc.health.v1.Health')
  expect(await health.call('check', {})).toEqual({ status: 'SERVING' })
  health.close()
})
