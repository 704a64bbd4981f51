/** The official SDK's documented set-up: Express, its default handler, and its in-memory or its database store. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentCard, Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { Kysely, SqliteDialect } from 'kysely'
import { load } from '../harness/lull.mjs'
import { greeting } from '../harness/requests.mjs'
import { serveSubject, settledMemory } from '../harness/subject.mjs'

const artifact = () => ({
  artifactId: crypto.randomUUID(),
  name: 'greeting',
  parts: [{ content: { $case: 'text', value: greeting }, mediaType: '', filename: '' }],
  extensions: [],
})
const now = () => new Date().toISOString()

/** Task, artifact, completed: the same three things our agent tells. */
const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state) => ({ state, timestamp: now(), message: undefined })
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        history: [userMessage],
        artifacts: [],
      }),
    )
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: artifact(),
        append: false,
        lastChunk: true,
      }),
    )
    const done = status(TaskState.TASK_STATE_COMPLETED)
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: done }))
    bus.finished()
  },
  async cancelTask() {},
}

const card = AgentCard.fromJSON({
  name: 'greeter',
  description: 'Greets.',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'greet', name: 'greet', description: 'Greets.', tags: ['greeting'] }],
})

await serveSubject(async ({ store = 'memory', path }) => {
  const tasks = store === 'memory' ? new InMemoryTaskStore() : await sqliteStore(path)
  const requestHandler = new DefaultRequestHandler(card, tasks, executor)
  const app = express()
  app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  return {
    ready: { port: server.address().port },
    handlers: { cpu: () => process.cpuUsage(), memory: settledMemory, fill, close },
  }

  /** Completed tasks of one message and one artifact, put where a load from outside would have put them. */
  async function fill({ count }) {
    const context = { user: { userName: '', isAuthenticated: false }, tenant: undefined }
    for (let i = 0; i < count; i++) {
      const id = crypto.randomUUID()
      const contextId = crypto.randomUUID()
      const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts: [] }
      const status = { state: TaskState.TASK_STATE_COMPLETED, timestamp: now() }
      const task = { id, contextId, status, history: [message], artifacts: [artifact()] }
      await tasks.save(task, context)
    }
  }

  function close() {
    server.close()
    server.closeAllConnections()
  }
})

/** Its own schema, on the same SQLite driver as ours, with the durability its guide suggests: WAL and NORMAL. */
async function sqliteStore(path) {
  const { loadDriver } = await load('stores/sqlite/files/driver.js')
  const open = await loadDriver()
  const db = open(join(path, 'tasks.db'))
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = NORMAL')
  const tool = fileURLToPath(new URL('../node_modules/.bin/a2a-db', import.meta.url))
  db.exec(execFileSync(tool, ['upgrade', '--sql', '--dialect', 'sqlite'], { encoding: 'utf8' }))
  return new DatabaseTaskStore(new Kysely({ dialect: new SqliteDialect({ database: like(db) }) }))
}

/** What Kysely expects of a driver (better-sqlite3's face), on `node:sqlite`'s. */
function like(db) {
  return {
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql)
      const reader = /^\s*(select|with|pragma)|returning/i.test(sql)
      return {
        reader,
        all: (values) => statement.all(...values),
        run: (values) => statement.run(...values),
        iterate: (values) => statement.all(...values)[Symbol.iterator](),
      }
    },
  }
}
