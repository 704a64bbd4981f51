import pg from 'pg'
import { expect, inject, it } from 'vitest'

it('the tests have a PostgreSQL with UTF8 that waits for the disk', async () => {
  const client = new pg.Client(inject('postgres'))
  await client.connect()
  const show = async (name: string) => (await client.query(`SHOW ${name}`)).rows[0]?.[name]
  expect(await show('server_encoding')).toBe('UTF8')
  expect(await show('fsync')).toBe('on')
  await client.end()
})
