/**
 * What objects look like on the wire: A2A v1.0 §4 (the proto, as ProtoJSON) and v0.3 §6. Strict, so that a member of the
 * other version (`kind` in 1.0, say) or of nobody's is found. 0.3 objects are read loosely: its schema allows additions.
 */
import { z } from 'zod'
import type { Version } from './model.ts'

const metadata = z.record(z.string(), z.unknown()).optional()
const extensions = z.array(z.string()).optional()
/** §5.6.1: UTC with Z. */
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)

export const STATES_V1 = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const
export const TERMINAL: readonly string[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]
export const INTERRUPTED: readonly string[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]

const partV1 = z
  .strictObject({
    text: z.string().optional(),
    raw: z.base64().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    metadata,
    filename: z.string().optional(),
    mediaType: z.string().optional(),
  })
  .refine((part) => ['text', 'raw', 'url', 'data'].filter((name) => name in part).length === 1, {
    message: 'exactly one of text, raw, url, data',
  })

const messageV1 = z.strictObject({
  messageId: z.string().min(1),
  contextId: z.string().optional(),
  taskId: z.string().optional(),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(partV1).min(1),
  metadata,
  extensions,
  referenceTaskIds: z.array(z.string()).optional(),
})

const statusV1 = z.strictObject({
  state: z.enum(STATES_V1),
  message: messageV1.optional(),
  timestamp: timestamp.optional(),
})

const artifactV1 = z.strictObject({
  artifactId: z.string().min(1),
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(partV1).min(1),
  metadata,
  extensions,
})

const taskV1 = z.strictObject({
  id: z.string().min(1),
  contextId: z.string().optional(),
  status: statusV1,
  artifacts: z.array(artifactV1).optional(),
  history: z.array(messageV1).optional(),
  metadata,
})

const statusUpdateV1 = z.strictObject({
  taskId: z.string().min(1),
  contextId: z.string().min(1),
  status: statusV1,
  metadata,
})

const artifactUpdateV1 = z.strictObject({
  taskId: z.string().min(1),
  contextId: z.string().min(1),
  artifact: artifactV1,
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
  metadata,
})

const streamResponseV1 = z
  .strictObject({
    task: taskV1.optional(),
    message: messageV1.optional(),
    statusUpdate: statusUpdateV1.optional(),
    artifactUpdate: artifactUpdateV1.optional(),
  })
  .refine((event) => Object.keys(event).length === 1, { message: 'exactly one member' })

const sendResponseV1 = z
  .strictObject({ task: taskV1.optional(), message: messageV1.optional() })
  .refine((event) => Object.keys(event).length === 1, { message: 'exactly one of task, message' })

const pushConfigV1 = z.strictObject({
  tenant: z.string().optional(),
  id: z.string().min(1),
  taskId: z.string().min(1),
  url: z.string().min(1),
  token: z.string().optional(),
  authentication: z
    .strictObject({ scheme: z.string().min(1), credentials: z.string().optional() })
    .optional(),
})

const skill = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  description: z.string().min(1),
  tags: z.array(z.string()),
})

const cardV1 = z.looseObject({
  name: z.string().min(1),
  description: z.string().min(1),
  version: z.string().min(1),
  supportedInterfaces: z
    .array(
      z
        .strictObject({
          url: z.string(),
          protocolBinding: z.string().min(1),
          protocolVersion: z.string().regex(/^\d+\.\d+$/),
          tenant: z.string().optional(),
        })
        .refine(({ url, protocolBinding }) => isAddress(url, protocolBinding), 'has no address'),
    )
    .min(1),
  capabilities: z.strictObject({
    streaming: z.boolean().optional(),
    pushNotifications: z.boolean().optional(),
    extendedAgentCard: z.boolean().optional(),
    extensions: z
      .array(
        z.strictObject({
          uri: z.string().min(1),
          description: z.string().optional(),
          required: z.boolean().optional(),
          params: z.record(z.string(), z.unknown()).optional(),
        }),
      )
      .optional(),
  }),
  defaultInputModes: z.array(z.string()).min(1),
  defaultOutputModes: z.array(z.string()).min(1),
  skills: z.array(skill).min(1),
})

// ── 0.3 ──

const partV03 = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({ kind: z.literal('data'), data: z.record(z.string(), z.unknown()) }),
  z.looseObject({
    kind: z.literal('file'),
    file: z.union([z.looseObject({ bytes: z.base64() }), z.looseObject({ uri: z.string() })]),
  }),
])

const messageV03 = z.looseObject({
  kind: z.literal('message'),
  messageId: z.string().min(1),
  role: z.enum(['user', 'agent']),
  parts: z.array(partV03).min(1),
})

const statusV03 = z.looseObject({
  state: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
  message: messageV03.optional(),
  timestamp: z.string().optional(),
})

const artifactV03 = z.looseObject({
  artifactId: z.string().min(1),
  parts: z.array(partV03).min(1),
})

const taskV03 = z.looseObject({
  kind: z.literal('task'),
  id: z.string().min(1),
  contextId: z.string().min(1),
  status: statusV03,
  artifacts: z.array(artifactV03).optional(),
  history: z.array(messageV03).optional(),
})

const statusUpdateV03 = z.looseObject({
  kind: z.literal('status-update'),
  taskId: z.string().min(1),
  contextId: z.string().min(1),
  status: statusV03,
  final: z.boolean(),
})

const artifactUpdateV03 = z.looseObject({
  kind: z.literal('artifact-update'),
  taskId: z.string().min(1),
  contextId: z.string().min(1),
  artifact: artifactV03,
})

const eventV03 = z.discriminatedUnion('kind', [
  taskV03,
  messageV03,
  statusUpdateV03,
  artifactUpdateV03,
])

const cardV03 = z.looseObject({
  protocolVersion: z.string().regex(/^0\.3/),
  name: z.string().min(1),
  description: z.string().min(1),
  url: z.url(),
  version: z.string().min(1),
  capabilities: z.looseObject({}),
  defaultInputModes: z.array(z.string()).min(1),
  defaultOutputModes: z.array(z.string()).min(1),
  skills: z.array(skill).min(1),
})

export type ShapeName =
  | 'Task'
  | 'TaskStatus'
  | 'Message'
  | 'Part'
  | 'Artifact'
  | 'SendMessageResponse'
  | 'StreamResponse'
  | 'PushConfig'
  | 'AgentCard'

const SHAPES: Readonly<Record<Version, Partial<Record<ShapeName, z.ZodType>>>> = {
  '1.0': {
    Task: taskV1,
    TaskStatus: statusV1,
    Message: messageV1,
    Part: partV1,
    Artifact: artifactV1,
    SendMessageResponse: sendResponseV1,
    StreamResponse: streamResponseV1,
    PushConfig: pushConfigV1,
    AgentCard: cardV1,
  },
  '0.3': {
    Task: taskV03,
    TaskStatus: statusV03,
    Message: messageV03,
    Part: partV03,
    Artifact: artifactV03,
    SendMessageResponse: z.discriminatedUnion('kind', [taskV03, messageV03]),
    StreamResponse: eventV03,
    AgentCard: cardV03,
  },
}

/** Nothing when the value has the shape, else the first problems with their paths. */
export function misshapen(version: Version, name: ShapeName, value: unknown): string | undefined {
  const shape = SHAPES[version][name]
  const parsed = shape?.safeParse(value)
  if (parsed === undefined || parsed.success) return undefined
  return parsed.error.issues
    .slice(0, 3)
    .map((issue) => `${name}.${issue.path.join('.')}: ${issue.message}`)
    .join('; ')
}

/** An absolute URL. gRPC has host and port (A2A #1997). */
export function isAddress(url: unknown, binding: unknown): boolean {
  if (binding === 'GRPC') return /^[^\s/]+:\d+$/.test(String(url))
  return URL.canParse(String(url))
}
