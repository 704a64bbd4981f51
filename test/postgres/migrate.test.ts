/** `lull migrate` as a user runs it: a server on SQLite is stopped, its tasks move, and servers on PostgreSQL go on with them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { emitEvent } from '../../src/client/server-calls.ts'
import type { Json } from '../../src/core/values/json.ts'
import { createPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { newSchema } from '../../src/stores/postgres/test-support/new-schema.ts'
import { type LullProcess, lull, serving } from '../scenarios/lull-process.ts'

let directory: string
let from: string
let schema: string
let database: pg.Client
const processes: LullProcess[] = []
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-migrate-'))
  from = join(directory, 'data')
  schema = newSchema()
  database = new pg.Client(inject('postgres'))
  await database.connect()
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.splice(0).map(({ ended }) => ended))
  await database.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await database.end()
  rmSync(directory, { recursive: true })
})

const onSqlite = { LULL_STORE: 'sqlite', LULL_POSTGRES: '', LULL_CONFIG: '' }
const variables = () => ({ LULL_POSTGRES: inject('postgres'), LULL_POSTGRES_SCHEMA: schema })

function migrate(...more: readonly string[]): LullProcess {
  const run = lull(['migrate', '--from', from, ...more], { ...variables(), LULL_STORE: '' })
  processes.push(run)
  return run
}

async function start(env: NodeJS.ProcessEnv, data: string) {
  const server = await serving(['serve', '--script', '--port', '0', '--data', data], env)
  processes.push(server)
  return server
}

/** A directory with a task that waits for an event, and one event that it does not wait for. */
async function fill(): Promise<string> {
  const server = await start(onSqlite, from)
  const script = [{ park: { reason: 'ci', conditions: { onEvent: 'built' } } }, { step: 'b' }]
  const parts = [{ data: { script } as unknown as Json }]
  const sent = await createClient({ url: server.url }).send(parts)
  if (sent.kind !== 'task') throw new Error('a script is a task')
  expect(sent.task.state).toBe('paused-by-agent')
  await emitEvent(server.url, { id: '1', source: 'ci', type: 'other' })
  server.signal('SIGTERM')
  expect((await server.ended).code).toBe(0)
  return sent.task.id
}

it('moves a stopped store after it was killed in the middle, once, and its parked task goes on', async () => {
  const taskId = await fill()
  await (await createPostgresStore({ url: inject('postgres'), schema })).close()
  // The move waits for this lock when it has copied the tasks.
  await database.query(`BEGIN; LOCK TABLE ${schema}.events IN ACCESS EXCLUSIVE MODE`)
  const killed = migrate()
  const isWaiting = async (): Promise<unknown> => {
    const other = new pg.Client(inject('postgres'))
    await other.connect()
    const { rows } = await other.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}.events%'`,
    )
    await other.end()
    return rows.length
  }
  await expect.poll(isWaiting).toBe(1)
  killed.signal('SIGKILL')
  await killed.ended
  await database.query('ROLLBACK')
  const { rows } = await database.query(`SELECT FROM ${schema}.tasks`)
  expect(rows).toHaveLength(0)

  const moved = await migrate().ended
  expect(moved).toMatchObject({ code: 0, err: '' })
  expect(moved.out).toMatch(/^Moved .* to PostgreSQL at .*\n1 tasks with \d+ records/)
  const again = await migrate('--json').ended
  expect(JSON.parse(again.out)).toMatchObject({ isRepeat: true, tasks: 1, rows: { events: 1 } })

  const server = await start({ ...variables(), LULL_CONFIG: '' }, join(directory, 'new'))
  await emitEvent(server.url, { id: '2', source: 'ci', type: 'built' })
  const client = createClient({ url: server.url })
  await expect.poll(async () => (await client.get(taskId)).state).toBe('completed')
})

it('refuses a directory that a server uses, a database in use, and nonsense, in one sentence', async () => {
  await start(onSqlite, from)
  const locked = await migrate().ended
  expect(locked.code).toBe(1)
  expect(locked.err).toMatch(/is in use by another process/)
  const wrong = await migrate('--to', 'mysql://u:s3cret@h/x').ended
  expect(wrong.code).toBe(2)
  expect(wrong.err).toMatch(/not the address of a PostgreSQL database/)
  for (const { err } of [locked, wrong]) expect(err).not.toMatch(/s3cret|^\s+at /m)
})

it('the commands of docs/scale.md that move and look are those of the program', async () => {
  await fill()
  const text = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8')
  const address = 'postgres://lull:…@db.example.com:5432/lull'
  const commands = [...text.matchAll(/^(?:LULL_POSTGRES=\S+ )?lull (migrate|keys|doctor)(.*)$/gm)]
  expect(commands.map(([, name]) => name)).toContain('migrate')
  for (const [line, name = '', rest = ''] of commands) {
    const words = rest
      .replace('./.lull', from)
      .replace(address, inject('postgres'))
      .trim()
      .split(/\s+/)
    const server = name === 'doctor' ? await start(variables(), join(directory, 'new')) : undefined
    const url = server === undefined ? [] : ['--url', server.url]
    const run = lull([name, ...words.filter((word) => word !== ''), ...url], variables())
    onTestFinished(() => void run.child.kill('SIGKILL'))
    expect(await run.ended, line).toMatchObject({ code: 0 })
  }
})
