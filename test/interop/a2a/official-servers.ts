/**
 * The official SDK's servers, as their documentation sets them up, with an agent that does what it is told: `hello` is a
 * message, `ask` a question, `work` goes on until it is released or cancelled, anything else completes at once and shows
 * the metadata of its message as an artifact.
 */
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  AgentEvent,
  DefaultRequestHandler as Handler1,
  InMemoryTaskStore as Store1,
} from 'a2a-js-v1/server'
import * as express1 from 'a2a-js-v1/server/express'
import { DefaultRequestHandler as Handler03, InMemoryTaskStore as Store03 } from 'a2a-js-v03/server'
import * as express03 from 'a2a-js-v03/server/express'
// @ts-expect-error: it brings no types, and its own are not worth a dependency
import express from 'express'

export interface OfficialServer {
  readonly url: string
  /** Lets a task that works complete. */
  release(taskId: string): void
  close(): Promise<void>
}

/** What the agent does, whatever the SDK calls it. */
interface Harness {
  task(): void
  message(text: string): void
  status(state: 'working' | 'input-required' | 'completed' | 'canceled', text?: string): void
  artifact(data: object): void
  finished(): void
}

function createActor() {
  const working = new Map<string, (how: 'completed' | 'canceled') => void>()
  return {
    async execute(
      taskId: string,
      text: string,
      metadata: object,
      isNew: boolean,
      harness: Harness,
    ) {
      if (text === 'hello') {
        harness.message('Hello to you')
        return harness.finished()
      }
      harness.task()
      if (text === 'ask') harness.status('input-required', 'Which one?')
      else if (text === 'work') {
        harness.status('working')
        const how = await new Promise<'completed' | 'canceled'>((resolve) => {
          working.set(taskId, resolve)
        })
        harness.status(how, 'over')
      } else {
        if (isNew) harness.status('working', 'on my way')
        harness.artifact(metadata)
        harness.status('completed', 'done')
      }
      harness.finished()
    },
    cancel(taskId: string, harness: Harness) {
      const end = working.get(taskId)
      if (end !== undefined) return end('canceled')
      harness.status('canceled')
      harness.finished()
    },
    release: (taskId: string) => working.get(taskId)?.('completed'),
  }
}

const about = {
  name: 'Official sample',
  description: 'Does what it is told',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
}
const skill = { id: 'any', name: 'Any', description: 'Anything', tags: ['any'] }

const states1 = { working: 2, completed: 3, canceled: 5, 'input-required': 6 }

// biome-ignore lint/suspicious/noExplicitAny: the SDK's in-memory shapes are not worth spelling out here
type Loose = any

export async function startOfficial1(): Promise<OfficialServer> {
  const actor = createActor()
  const part = (content: object) => ({ content, metadata: undefined, filename: '', mediaType: '' })
  const message = (taskId: string, contextId: string, text: string) => ({
    messageId: randomUUID(),
    contextId,
    taskId,
    role: 2,
    parts: [part({ $case: 'text', value: text })],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  })
  const stageFor = (context: Loose, bus: Loose): Harness => {
    const { taskId, contextId = '' } = context
    const status = (state: keyof typeof states1, text?: string) => ({
      state: states1[state],
      message: text === undefined ? undefined : message(taskId, contextId, text),
      timestamp: new Date().toISOString(),
    })
    const ids = { taskId, contextId, metadata: undefined }
    return {
      message: (text) => bus.publish(AgentEvent.message(message('', contextId, text) as Loose)),
      task: () =>
        bus.publish(
          AgentEvent.task(
            context.task ?? {
              id: taskId,
              contextId,
              status: status('working'),
              artifacts: [],
              history: [context.userMessage],
              metadata: undefined,
            },
          ),
        ),
      status: (state, text) =>
        bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(state, text) } as Loose)),
      artifact: (data) => {
        const artifact = {
          artifactId: randomUUID(),
          name: 'metadata',
          description: '',
          parts: [part({ $case: 'data', value: data })],
          metadata: undefined,
          extensions: [],
        }
        const update = { ...ids, artifact, append: false, lastChunk: true }
        bus.publish(AgentEvent.artifactUpdate(update as Loose))
      },
      finished: () => bus.finished(),
    }
  }
  const executor = {
    execute(context: Loose, bus: Loose) {
      const { taskId, userMessage, task } = context
      const text = userMessage.parts[0]?.content?.value ?? ''
      const metadata = userMessage.metadata ?? {}
      return actor.execute(taskId, text, metadata, task === undefined, stageFor(context, bus))
    },
    cancelTask: async (taskId: string, bus: Loose) =>
      actor.cancel(taskId, stageFor({ taskId }, bus)),
  }
  const app = express()
  return listening(app, actor.release, (url) => {
    const card = {
      ...about,
      provider: undefined,
      documentationUrl: undefined,
      iconUrl: undefined,
      supportedInterfaces: [
        { url: `${url}/`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: [],
      },
      skills: [
        { ...skill, examples: [], inputModes: [], outputModes: [], securityRequirements: [] },
      ],
      securitySchemes: {},
      securityRequirements: [],
      signatures: [],
    }
    const requestHandler = new Handler1(card as Loose, new Store1(), executor)
    const shared = { requestHandler, userBuilder: express1.UserBuilder.noAuthentication }
    const provided = express1.agentCardHandler({ agentCardProvider: requestHandler })
    app.use('/.well-known/agent-card.json', provided)
    app.use('/rest', express1.restHandler(shared))
    app.use('/', express1.jsonRpcHandler(shared))
  })
}

export async function startOfficial03(): Promise<OfficialServer> {
  const actor = createActor()
  const message = (taskId: string, contextId: string, text: string) => ({
    kind: 'message',
    messageId: randomUUID(),
    role: 'agent',
    parts: [{ kind: 'text', text }],
    ...(taskId === '' ? {} : { taskId }),
    contextId,
  })
  const stageFor = (context: Loose, bus: Loose): Harness => {
    const { taskId, contextId = '' } = context
    const status = (state: string, text?: string) => ({
      state,
      timestamp: new Date().toISOString(),
      ...(text === undefined ? {} : { message: message(taskId, contextId, text) }),
    })
    return {
      message: (text) => bus.publish(message('', contextId, text)),
      task: () =>
        bus.publish(
          context.task ?? {
            kind: 'task',
            id: taskId,
            contextId,
            status: status('working'),
            history: [context.userMessage],
          },
        ),
      status: (state, text) =>
        bus.publish({
          kind: 'status-update',
          taskId,
          contextId,
          status: status(state, text),
          final: state !== 'working',
        }),
      artifact: (data) =>
        bus.publish({
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { artifactId: randomUUID(), name: 'metadata', parts: [{ kind: 'data', data }] },
          append: false,
          lastChunk: true,
        }),
      finished: () => bus.finished(),
    }
  }
  const executor = {
    execute(context: Loose, bus: Loose) {
      const { taskId, userMessage, task } = context
      const { text = '' } = userMessage.parts[0] ?? {}
      const metadata = userMessage.metadata ?? {}
      return actor.execute(taskId, text, metadata, task === undefined, stageFor(context, bus))
    },
    cancelTask: async (taskId: string, bus: Loose) =>
      actor.cancel(taskId, stageFor({ taskId }, bus)),
  }
  const app = express()
  return listening(app, actor.release, (url) => {
    const card = {
      ...about,
      protocolVersion: '0.3.0',
      url: `${url}/rpc`,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: `${url}/rpc`, transport: 'JSONRPC' },
        { url: `${url}/rest`, transport: 'HTTP+JSON' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      skills: [skill],
    }
    const requestHandler = new Handler03(card as Loose, new Store03(), executor)
    const shared = { requestHandler, userBuilder: express03.UserBuilder.noAuthentication }
    const provided = express03.agentCardHandler({ agentCardProvider: requestHandler })
    app.use('/.well-known/agent-card.json', provided)
    app.use('/rest', express03.restHandler(shared))
    app.use('/rpc', express03.jsonRpcHandler(shared))
  })
}

async function listening(
  app: Loose,
  release: (taskId: string) => void,
  mount: (url: string) => void,
): Promise<OfficialServer> {
  const server: Server = await new Promise((resolve) => {
    const listener = app.listen(0, '127.0.0.1', () => resolve(listener))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  mount(url)
  return {
    url,
    release,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
