/** What each command that takes a database says about one that it cannot use: one sentence, an exit code, no stack, no password. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { runCli } from '../../../cli/run-cli.ts'
import { createFakeIo } from '../../../cli/test-support/fake-io.ts'
import { creation } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../../sqlite/sqlite-store.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { dropSchema, execute, newSchema } from '../test-support/new-schema.ts'

const data = mkdtempSync(join(tmpdir(), 'lull-bad-input-'))
const weak = `weak_${randomBytes(6).toString('hex')}`
const schemas = { newer: newSchema(), foreign: newSchema(), unreadable: newSchema() }

beforeAll(async () => {
  const store = await createSqliteStore({ path: data })
  await store.commit([creation('t')])
  await store.close()
  await execute(`CREATE ROLE ${weak} LOGIN PASSWORD 's3cret'`)
  for (const schema of [schemas.newer, schemas.unreadable]) {
    await (await createPostgresStore({ url: inject('postgres'), schema })).close()
  }
  await execute(`UPDATE ${schemas.newer}.schema SET number = 999, readable_from = 999`)
  await execute(
    `CREATE SCHEMA ${schemas.foreign}; CREATE TABLE ${schemas.foreign}.theirs (x integer)`,
  )
})
afterAll(async () => {
  rmSync(data, { recursive: true })
  for (const schema of Object.values(schemas)) await dropSchema(schema)
  await execute(`DROP ROLE ${weak}`)
})

function changed(change: (url: URL) => void): string {
  const url = new URL(inject('postgres'))
  change(url)
  return url.href
}

const asWeak = (): string =>
  changed((url) => {
    url.username = weak
    url.password = 's3cret'
  })

interface Case {
  readonly url: () => string
  readonly schema?: string
  readonly code: number
  readonly sentence: RegExp
}

const cases: Readonly<Record<string, Case>> = {
  'refuses the password': {
    url: () => changed((url) => (url.password = 's3cret')),
    code: 1,
    sentence: /refused the user or the password/,
  },
  'lets the user make no schema': {
    url: asWeak,
    schema: newSchema(),
    code: 1,
    sentence: /lacks a right/,
  },
  'lets the user read no schema': {
    url: asWeak,
    schema: schemas.unreadable,
    code: 1,
    sentence: /lacks a right/,
  },
  'has a schema of a newer program': {
    url: () => inject('postgres'),
    schema: schemas.newer,
    code: 1,
    sentence: /written by a newer version of Lull \(schema 999/,
  },
  'has a schema of another program': {
    url: () => inject('postgres'),
    schema: schemas.foreign,
    code: 1,
    sentence: /has tables of another program/,
  },
  'does not encrypt': {
    url: () => changed((url) => url.searchParams.set('sslmode', 'require')),
    code: 1,
    sentence: /the encrypted connection to PostgreSQL failed/,
  },
  'is no address': { url: () => 'mysql://u:s3cret@h/x', code: 2, sentence: /not the address of/ },
  'has no name for a schema': {
    url: () => inject('postgres'),
    schema: 'No-Schema',
    code: 2,
    sentence: /not the name of a schema/,
  },
}

const MINT = ['keys', 'mint', '--tenant', 'acme', '--principal', 'ci', '--scopes', 'tasks:read']

const commands: Readonly<Record<string, (url: string) => readonly string[]>> = {
  serve: (url) => ['serve', '--script', '--port', '0', '--data', data, '--postgres', url],
  keys: (url) => [...MINT, '--postgres', url],
  migrate: (url) => ['migrate', '--from', data, '--to', url],
}

async function run(args: readonly string[], schema: string | undefined) {
  const io = createFakeIo()
  const before = process.env['LULL_POSTGRES_SCHEMA']
  if (schema !== undefined) process.env['LULL_POSTGRES_SCHEMA'] = schema
  try {
    return { code: await runCli(args, io), out: io.out, err: io.err }
  } finally {
    if (before === undefined) delete process.env['LULL_POSTGRES_SCHEMA']
    else process.env['LULL_POSTGRES_SCHEMA'] = before
  }
}

it.each([
  ['postgres://u:s3cret@127.0.0.1:1/x', /does not answer at its address/],
  ['postgres://u:s3cret@h/x?host=/nowhere', /the socket of PostgreSQL is not there/],
])('a PostgreSQL that cannot be reached ends a command with exit code 3: %s', async (url, why) => {
  const { code, err } = await run(['keys', 'list', '--postgres', url], undefined)
  expect(code).toBe(3)
  expect(err).toEqual([expect.stringMatching(why)])
})

it('lull keys list makes no schema, and reads the keys that lull keys mint has made', async () => {
  const schema = newSchema()
  const url = inject('postgres')
  const list = ['keys', 'list', '--postgres', url]
  const first = await run(list, schema)
  expect(first.code).toBe(1)
  expect(first.err).toEqual([expect.stringContaining(`there is no schema ${schema}`)])
  expect((await run([...MINT, '--postgres', url], schema)).code).toBe(0)
  expect((await run(list, schema)).out).toContain('1 key')
})

describe.each(Object.entries(cases))(
  'a PostgreSQL that %s',
  (_, { url, schema, code, sentence }) => {
    it.each(Object.entries(commands))('ends lull %s with one sentence', async (_, argsFor) => {
      const ended = await run(argsFor(url()), schema)
      const [line = '', ...more] = ended.err
      expect(line).toMatch(sentence)
      expect(ended.code).toBe(code)
      expect(more.filter((text) => !text.startsWith('Usage: '))).toEqual([])
      expect(ended.out).toEqual([])
      expect(line).not.toMatch(/s3cret|\bat \w+ \(/)
    })

    it('is a finding of lull doctor', async () => {
      const { code: exit, out } = await run(['doctor', '--postgres', url()], schema)
      expect(exit).toBe(1)
      const lines = out.filter((line) => line.includes(' postgres '))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^fail/)
      expect(lines[0]).toMatch(sentence)
      expect(out.join('\n')).not.toContain('s3cret')
    })
  },
)
