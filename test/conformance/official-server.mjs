/**
 * The official SDK's server as its documentation sets it up (Express, DefaultRequestHandler, in-memory stores, 0.3 layer on),
 * with an agent that follows the official kit's conventions: the message id's prefix says what to do. A check on the runner:
 * what it finds here is known (see conformance/expected-failures/a2a-js-1.3.0.ts).
 *
 * Prints its address on one line. Cards: `/` (everything), with argument `bare` no streaming and no push, with `required`
 * an extension that clients must activate.
 */
import { randomUUID } from 'node:crypto'
import { duplicateInterfacesForLegacy } from 'a2a-js-v1/compat/v0_3'
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from 'a2a-js-v1/server'
import {
  agentCardHandler,
  jsonRpcHandler,
  restHandler,
  UserBuilder,
} from 'a2a-js-v1/server/express'
import express from 'express'

const STATE = { working: 2, completed: 3, canceled: 5, input: 6, rejected: 7, auth: 8 }
const ROLE_AGENT = 2

const part = (content, more = {}) => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
  ...more,
})
const text = (value) => part({ $case: 'text', value })

function message(taskId, contextId, value) {
  return {
    messageId: randomUUID(),
    contextId,
    taskId,
    role: ROLE_AGENT,
    parts: [text(value)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

const ARTIFACTS = {
  'tck-artifact-text': () => [text('Generated text content')],
  'tck-artifact-file-url': () => [
    part(
      { $case: 'url', value: 'https://example.com/output.txt' },
      { filename: 'output.txt', mediaType: 'text/plain' },
    ),
  ],
  'tck-artifact-file': () => [
    part(
      { $case: 'raw', value: Buffer.from('Generated file content') },
      { filename: 'output.txt', mediaType: 'text/plain' },
    ),
  ],
  'tck-artifact-data': () => [part({ $case: 'data', value: { key: 'value', count: 42 } })],
  'tck-stream-artifact-chunked': () => [text('one '), text('two')],
  'tck-stream': () => [text('Streamed text content')],
}
/** Longest first, so that `tck-artifact-file-url` is not taken for `tck-artifact-file`. */
const PREFIXES = Object.keys(ARTIFACTS).sort((a, b) => b.length - a.length)

/** How long the kit wants the resubscribe scenario to stay working; a cancel ends it sooner. */
const WORKING_MS = 4_000

function createExecutor() {
  const running = new Map()
  return {
    async execute(context, bus) {
      const { taskId, contextId, userMessage } = context
      const id = userMessage.messageId
      const status = (state, said) => ({
        state,
        message: said === undefined ? undefined : message(taskId, contextId, said),
        timestamp: new Date().toISOString(),
      })
      const update = (state, said) =>
        bus.publish(
          AgentEvent.statusUpdate({
            taskId,
            contextId,
            status: status(state, said),
            metadata: undefined,
          }),
        )
      if (id.startsWith('tck-message-response')) {
        bus.publish(AgentEvent.message(message('', contextId, 'Direct message response')))
        bus.finished()
        return
      }
      bus.publish(
        AgentEvent.task(
          context.task ?? {
            id: taskId,
            contextId,
            status: status(STATE.working),
            artifacts: [],
            history: [userMessage],
            metadata: undefined,
          },
        ),
      )
      if (id.startsWith('test-resubscribe-message-id')) {
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, WORKING_MS)
          running.set(taskId, () => {
            clearTimeout(timer)
            resolve()
          })
        })
        if (running.delete(taskId)) update(STATE.completed, 'Done')
        bus.finished()
        return
      }
      if (id.startsWith('tck-input-required')) update(STATE.input, 'More, please')
      else if (id.startsWith('tck-auth-required')) update(STATE.auth, 'Sign in to the bank')
      else if (id.startsWith('tck-reject-task')) update(STATE.rejected, 'No')
      else {
        const prefix = PREFIXES.find((name) => id.startsWith(name))
        if (prefix !== undefined) {
          update(STATE.working)
          const parts = ARTIFACTS[prefix]()
          const artifactId = randomUUID()
          parts.forEach((one, i) => {
            const artifact = {
              artifactId,
              name: 'output',
              description: '',
              parts: [one],
              metadata: undefined,
              extensions: [],
            }
            bus.publish(
              AgentEvent.artifactUpdate({
                taskId,
                contextId,
                artifact,
                append: i > 0,
                lastChunk: i === parts.length - 1,
                metadata: undefined,
              }),
            )
          })
        }
        update(STATE.completed, 'Hello from TCK')
      }
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: '',
          status: {
            state: STATE.canceled,
            message: undefined,
            timestamp: new Date().toISOString(),
          },
          metadata: undefined,
        }),
      )
      const stop = running.get(taskId)
      running.delete(taskId)
      stop?.()
      bus.finished()
    },
  }
}

const variant = process.argv[2] ?? 'full'

function createCard(url) {
  const interfaces = [
    { url: `${url}/`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' },
  ]
  const required = {
    uri: 'urn:a2a:tck:required-extension',
    description: 'Asked for by the kit',
    required: true,
    params: undefined,
  }
  return {
    name: 'Official SDK sample',
    description: 'Follows the conventions of the official kit',
    version: '1.3.0',
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
    supportedInterfaces: duplicateInterfacesForLegacy(interfaces, ['JSONRPC', 'HTTP+JSON']),
    capabilities: {
      streaming: variant !== 'bare',
      pushNotifications: variant !== 'bare',
      extendedAgentCard: false,
      extensions: variant === 'required' ? [required] : [],
    },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'kit',
        name: 'Kit',
        description: 'Does what the message id says',
        tags: ['conformance'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
  }
}

const app = express()
const server = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`
  const pushStore = new InMemoryPushNotificationStore()
  const requestHandler = new DefaultRequestHandler(
    createCard(url),
    new InMemoryTaskStore(),
    createExecutor(),
    undefined,
    variant === 'bare' ? undefined : pushStore,
    variant === 'bare' ? undefined : new DefaultPushNotificationSender(pushStore),
  )
  const shared = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
  )
  app.use('/rest', restHandler(shared))
  app.use('/', jsonRpcHandler(shared))
  process.stdout.write(`${url}\n`)
})
