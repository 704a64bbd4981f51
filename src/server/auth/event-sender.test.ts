/** Events are bound to the credential they came with. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../client/client.ts'
import { emitEvent } from '../../client/server-calls.ts'
import type { Scope } from '../../core/scopes.ts'
import type { State } from '../../core/states.ts'
import type { Json } from '../../core/values/json.ts'
import type { RunningServer } from '../serve.ts'
import { type KeyedServer, openKeyedServer } from '../test-support/keyed-server.ts'

let serving: RunningServer
let server: KeyedServer

beforeAll(async () => {
  server = await openKeyedServer()
  serving = server.serving
})
afterAll(async () => {
  await server.close()
})

async function mint(principal: string, more: readonly Scope[] = [], sources?: readonly string[]) {
  const scopes: readonly Scope[] = ['tasks:read', 'tasks:write', 'events:write', ...more]
  const bound = sources === undefined ? {} : { eventSources: sources }
  const { headers } = await server.mint({ tenant: 'acme', principal, scopes, ...bound })
  return {
    client: createClient({ url: serving.url, headers }),
    emit: (event: object) =>
      emitEvent(serving.url, { id: '1', source: 'ci', type: 'done', ...event }, { headers }),
  }
}

type Party = Awaited<ReturnType<typeof mint>>

/** A task of ada that waits for events of that type. */
async function waiting({ client }: Party, type: string, before: readonly Json[] = []) {
  const script = [...before, { park: { reason: 'x', conditions: { onEvent: type } } }]
  const sent = await client.send([{ data: { script } }], { returnImmediately: true })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  const { id } = sent.task
  const caller = { tenant: 'acme', principal: 'ada' }
  const is = async (state: State) => {
    await serving.engine.waitFor(caller, id, (task) => task.state === state)
  }
  await is('paused-by-agent')
  const wokenBy = async () => {
    const ids: unknown[] = []
    for await (const record of await serving.engine.subscribe(caller, id)) {
      if (record.type === 'resumed') ids.push((record.event as { id?: string } | undefined)?.id)
    }
    return ids
  }
  return {
    is,
    wokenBy,
    stays: async () => expect((await client.get(id)).state).toBe('paused-by-agent'),
  }
}

it("E1: an event wakes the sender's tasks, and others' only with events:write:all", async () => {
  const [ada, eve, ci] = [
    await mint('ada'),
    await mint('eve'),
    await mint('ci', ['events:write:all']),
  ]
  const task = await waiting(ada, 'e1')
  await eve.emit({ type: 'e1' })
  await task.stays()
  await ada.emit({ type: 'e1' })
  await task.is('completed')
  const second = await waiting(ada, 'e1-all')
  await ci.emit({ type: 'e1-all' })
  await second.is('completed')
})

it('E1: a task that parks later looks back past events that are not for it', async () => {
  const [ada, eve] = [await mint('ada'), await mint('eve')]
  const task = await waiting(ada, 'e1-late', [
    { park: { reason: 'x', conditions: { onEvent: 'go' } } },
  ])
  await eve.emit({ type: 'e1-late', id: 'of eve' })
  await ada.emit({ type: 'e1-late', id: 'of ada' })
  await ada.emit({ type: 'go', id: 'go' })
  await task.is('completed')
  expect(await task.wokenBy()).toEqual(['go', 'of ada'])
})

it('E1: a sender cannot claim to be another, or to reach all', async () => {
  const [ada, eve] = [await mint('ada'), await mint('eve')]
  const task = await waiting(ada, 'e1-forged')
  await eve.emit({ type: 'e1-forged', id: 'f1', lullsender: 'ada' })
  await eve.emit({ type: 'e1-forged', id: 'f2', lullreach: 'all' })
  await task.stays()
})

it('E2: a sender does not use up the ids of another, and its own repeats are duplicates', async () => {
  const [ada, eve] = [await mint('ada'), await mint('eve')]
  const task = await waiting(ada, 'e2')
  const event = { type: 'e2', source: 'github', id: 'build-1' }
  expect(await eve.emit(event)).toEqual({ accepted: 1, duplicates: 0, woken: 0 })
  expect(await ada.emit(event)).toEqual({ accepted: 1, duplicates: 0, woken: 1 })
  await task.is('completed')
  expect(await ada.emit(event)).toEqual({ accepted: 0, duplicates: 1, woken: 0 })
})

it('E3: a key that is bound to sources sends events of these alone', async () => {
  const bound = await mint('ada', [], ['ci', 'github'])
  await bound.emit({ type: 'e3', id: 'e3', source: 'github' })
  const refused = bound.emit({ type: 'e3', id: 'e3', source: 'gitlab' })
  await expect(refused).rejects.toMatchObject({ reason: 'FORBIDDEN' })
})
