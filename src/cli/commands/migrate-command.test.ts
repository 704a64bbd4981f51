import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { creation } from '../../testing/sample-task.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-migrate-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function migrate(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli(['migrate', ...args], io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

const nowhere = 'postgres://u:s3cret@127.0.0.1:1/x'

it.each([
  [['--to', 'mysql://u:s3cret@h/x'], 2, 'not the address of a PostgreSQL database'],
  [['--to', 'postgres://u:s3cret@h:port/x'], 2, 'not the address of a PostgreSQL database'],
  [[], 2, 'give the database: --to postgres://'],
  [['there', '--to', nowhere], 2, 'migrate takes flags only'],
  [['--to', nowhere], 1, 'there is no lull.db in'],
] as const)('says what is wrong with %j', async (args, code, sentence) => {
  const ended = await migrate('--from', directory, ...args)
  expect(ended.code).toBe(code)
  expect(ended.err).toContain(sentence)
  expect(ended.err).not.toContain('s3cret')
  expect(readdirSync(directory), 'nothing is made there').toEqual([])
})

it('names the flag that was given when a process uses the directory', async () => {
  const { createSqliteStore } = await import('../../stores/sqlite/sqlite-store.ts')
  const store = await createSqliteStore({ path: directory })
  const ended = await migrate('--from', directory, '--to', nowhere)
  await store.close()
  expect(ended.code).toBe(1)
  expect(ended.err).toContain('(--from, LULL_DATA)')
})

it('leaves the directory free when the database cannot be reached', async () => {
  const { createSqliteStore } = await import('../../stores/sqlite/sqlite-store.ts')
  const store = await createSqliteStore({ path: directory })
  await store.commit([creation('t')])
  await store.close()
  const ended = await migrate('--from', directory, '--to', nowhere, '--json')
  expect(ended.code).toBe(3)
  expect(JSON.parse(ended.out)).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })
  await (await createSqliteStore({ path: directory })).close()
})
