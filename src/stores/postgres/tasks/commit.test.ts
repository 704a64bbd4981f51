import { expect, inject, it, onTestFinished } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import {
  creation,
  sampleBudget,
  sampleClaim,
  sampleRecords,
  step,
} from '../../../testing/sample-task.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { dropSchema, execute, newSchema } from '../test-support/new-schema.ts'
import { startProxy, type TcpProxy } from '../test-support/proxy.ts'

const written = { status: 'written' }

async function open(): Promise<{ store: Store; proxy: TcpProxy; schema: string }> {
  const schema = newSchema()
  const proxy = await startProxy(inject('postgres'))
  const store = await createPostgresStore({ url: proxy.url, direct: inject('postgres'), schema })
  onTestFinished(async () => {
    await store.close()
    await dropSchema(schema)
  })
  return { store, proxy, schema }
}

/** Too long for an index, and not compressible. */
function longText(): string {
  let text = ''
  for (let n = 0; text.length < 20_000; n++) text += Math.imul(n + 1, 2_654_435_761).toString(36)
  return text
}

it('B1: writes commits of one task one after the other, and decides between claims of one key in order', async () => {
  const { store } = await open()
  const key = (id: string) => ({ claim: sampleClaim(id) })
  await store.commit([creation('task-1')])
  expect(
    await store.commit([
      creation('task-1', {}, key('task-1')),
      creation('task-2', {}, key('task-2')),
      step('task-2', 2),
      creation('task-3', {}, key('task-3')),
      step('task-2', 3),
    ]),
  ).toEqual([
    { status: 'conflict', version: 2 },
    written,
    written,
    { status: 'claimed', claim: sampleClaim('task-2') },
    written,
  ])
})

it('B2: fails a commit with an id that no index can hold, and no other of 40', async () => {
  const { store } = await open()
  const batch = Array.from({ length: 40 }, (_, n) => creation(n === 17 ? longText() : `task-${n}`))
  const results = await store.commit(batch)
  expect(results.flatMap((one, n) => (one.status === 'written' ? [] : [n]))).toEqual([17])
  expect(results[17]).toMatchObject({ status: 'failed', kind: 'content' })
  expect(await store.count({})).toBe(39)
})

it('B3: knows its own commit again when the connection was lost after it was written', async () => {
  const { store, proxy, schema } = await open()
  await store.commit([creation('task-1'), creation('task-2')])
  const cut = proxy.cutAfter('lost and found')
  const records = sampleRecords(2, 'lost and found')
  const claim = sampleClaim('task-1', { key: 'follow-up' })
  const results = await store.commit([
    step('task-1', 2, { records, claim }),
    step('task-2', 1),
    creation('task-3', {}, { claim: sampleClaim('task-3') }),
  ])
  expect(cut.happened()).toBe(true)
  expect(results).toEqual([written, { status: 'conflict', version: 2 }, written])
  expect(await execute(`SELECT count(*)::integer AS n FROM ${schema}.records`)).toEqual([{ n: 4 }])
})

it('B3: refuses a commit that another process overtook, also after a lost connection', async () => {
  const { store, proxy } = await open()
  await store.commit([creation('task-1')])
  await store.commit([step('task-1', 2)])
  const cut = proxy.cutAfter('too late')
  const results = await store.commit([step('task-1', 2, { records: sampleRecords(2, 'too late') })])
  expect(cut.happened()).toBe(true)
  expect(results).toEqual([{ status: 'conflict', version: 3 }])
})

it('B4: carries out the rest of a batch of which a part is written, whatever the server says meanwhile', async () => {
  const { store, schema } = await open()
  await execute(`CREATE SEQUENCE ${schema}.refusals`)
  await execute(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.body LIKE '%no right%' AND nextval('${schema}.refusals') <> 4 THEN
      RAISE EXCEPTION 'no right' USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
  END $$`)
  await execute(`CREATE TRIGGER refused BEFORE INSERT ON ${schema}.records
    FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`)
  const refused = (version: number) =>
    step('task-1', version, { records: sampleRecords(version, 'no right') })
  await store.commit([creation('task-1')])
  await expect(store.commit([refused(2)])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  // Commits of one task are written one after the other.
  expect(await store.commit([step('task-1', 2), refused(3)])).toEqual([written, written])
})

it('appends events and replies once when the connection was lost', async () => {
  const { store, proxy } = await open()
  const event = { id: '1', source: 'lost event', type: 'x' }
  proxy.cutAfter('lost event')
  expect(await store.appendEvents('acme', [event, event], 5)).toEqual([
    { pos: 1, fresh: true },
    { pos: 1, fresh: false },
  ])
  expect(await store.appendEvents('acme', [event], 5)).toEqual([{ pos: 1, fresh: false }])

  proxy.cutAfter('lost reply')
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'lost reply' }] } as const
  await store.reply(undefined, [
    { tenant: 'acme', principal: 'ann', contextId: 'c', at: 1, message },
  ])
  expect(await store.contextMessages('acme', 'ann', 'c', 9)).toHaveLength(1)
})

it('stores a reply without a key once when its first attempt is carried out after its repeat', async () => {
  const { store } = await open()
  const said = (text: string) => ({
    ...{ tenant: 'acme', principal: 'ann', contextId: 'c', at: 1 },
    message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } as const,
  })
  const exchange = [said('question'), said('answer')]
  const arrives = (): Promise<void> => store.reply(undefined, exchange)
  await arrives()
  await arrives()
  expect(await store.contextMessages('acme', 'ann', 'c', 9)).toHaveLength(2)
})

it('knows its own change of a value or a policy again when the connection was lost', async () => {
  const { store, proxy } = await open()
  const lost = (text: string) => proxy.cutAfter(text)
  const cuts = [lost('lost first'), lost('lost second'), lost('lost third')]
  expect(await store.replaceValue('keys', undefined, 'lost first')).toBe(true)
  expect(await store.replaceValue('keys', 'lost first', 'lost second')).toBe(true)
  expect(await store.replaceValue('keys', 'lost first', 'other')).toBe(false)
  const budget = sampleBudget('lost third')
  expect(await store.putPolicy(budget, 0)).toBe(true)
  lost('lost third')
  expect(await store.putPolicy({ ...budget, version: 2 }, 1)).toBe(true)
  lost('lost third')
  expect(await store.removePolicy(budget.id, 2)).toBe(true)
  expect(cuts.map(({ happened }) => happened())).toEqual([true, true, true])
  expect(await store.policies()).toEqual([])
})

it('decides for each task between two processes that write the same tasks in different orders', async () => {
  const { store, schema } = await open()
  const other = await createPostgresStore({ url: inject('postgres'), schema })
  onTestFinished(() => other.close())
  const ids = Array.from({ length: 32 }, (_, n) => `task-${n}`)
  for (let round = 0; round < 10; round++) {
    const batch = ids.map((id) => creation(`${id}-${round}`, { waits: ['a', 'b'] }))
    const [one, two] = await Promise.all([store.commit(batch), other.commit([...batch].reverse())])
    const wins = [...(one ?? []), ...(two ?? [])].filter(({ status }) => status === 'written')
    expect(wins).toHaveLength(ids.length)
  }
})
