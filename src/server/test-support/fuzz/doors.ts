/** A request to each door, made from its schemas. For tests only. */
import fc from 'fast-check'
import type { z } from 'zod'
import type { RecordType } from '../../../core/records.ts'
import { recordSchema } from '../../../engine/input/records.ts'
import { operatorVerbs, verbs } from '../../../engine/requests/verbs.ts'
import { examples } from '../../../engine/test-support/record-examples.ts'
import { operatorSamples, samples } from '../../../engine/test-support/verb-samples.ts'
import { methods } from '../../../protocols/a2a/methods/methods.ts'
import { published as a2aShapes } from '../../../protocols/a2a/schemas/catalog.ts'
import { published as acpShapes } from '../../../protocols/acp/catalog.ts'
import { opsRoutes } from '../../../protocols/ops/routes.ts'
import { lastRecord } from './example-file.ts'
import { names, spoilt, valuesOf } from './grammar.ts'

export type Request =
  | { readonly door: 'engine'; readonly verb: string; readonly given: unknown }
  | {
      readonly door: 'ops'
      readonly method: string
      readonly path: string
      readonly given: unknown
    }
  | {
      readonly door: 'a2a' | 'acp'
      readonly version: string
      readonly method: string
      readonly given: unknown
    }
  /** An import of a log that ends with a record of the type. */
  | {
      readonly door: 'import'
      readonly type: RecordType
      readonly given: unknown
      readonly start: boolean
    }

type Requests = fc.Arbitrary<Request>

const either = (...all: readonly fc.Arbitrary<unknown>[]) => spoilt(fc.oneof(...all))
const sampled = (sample: unknown) => fc.constant(sample)

const engineDoor: readonly Requests[] = [
  ...Object.entries(verbs).map(([verb, { input }]) =>
    either(sampled(Reflect.get(samples, verb)('$own')), valuesOf(input as z.ZodType)).map(
      (given): Request => ({ door: 'engine', verb, given }),
    ),
  ),
  ...Object.entries(operatorVerbs).flatMap(([verb, definition]) =>
    'input' in definition
      ? [
          either(
            sampled(Reflect.get(operatorSamples, verb)),
            valuesOf(definition.input as z.ZodType),
          ).map((given): Request => ({ door: 'engine', verb, given })),
        ]
      : [],
  ),
]

const opsDoor: readonly Requests[] = opsRoutes.map(({ method, path, query, body }) =>
  fc
    .tuple(
      fc.constantFrom(...names, '%00', '%ff', '..', 'x'),
      query === undefined ? fc.constant({}) : spoilt(valuesOf(query)),
      body === undefined ? fc.constant(undefined) : spoilt(valuesOf(body)),
    )
    .map(([id, search, given]): Request => {
      const text = new URLSearchParams(
        Object.entries(search ?? {}).map(([name, value]): [string, string] => [
          name,
          String(value).slice(0, 2_000),
        ]),
      )
      return { door: 'ops', method, path: `${path.replace('{id}', id)}?${text}`, given }
    }),
)

const message = {
  messageId: 'm-$own',
  role: 'ROLE_USER',
  parts: [{ text: 'park' }, { data: { a: 1 } }],
}
const olderMessage = {
  messageId: 'n',
  role: 'user',
  kind: 'message',
  parts: [{ kind: 'text', text: 'ask' }],
}
const push = {
  url: 'https://a.example',
  token: 't',
  id: 'p',
  authentication: { schemes: ['Bearer'], scheme: 'Bearer' },
}
/** Members of every method of A2A; each reads those that it knows. */
const params: readonly object[] = [
  {
    message,
    configuration: {
      returnImmediately: true,
      historyLength: 2,
      acceptedOutputModes: ['text/plain'],
    },
    metadata: { a: 1 },
  },
  {
    message: { ...message, taskId: '$asking' },
    configuration: { returnImmediately: true, taskPushNotificationConfig: push },
  },
  { message: olderMessage, configuration: { blocking: false, pushNotificationConfig: push } },
  { id: '$own', historyLength: 1, metadata: {} },
  { taskId: '$own', ...push },
  { id: '$victim', taskId: '$victim', pushNotificationConfig: push, pushNotificationConfigId: 'p' },
  {
    pageSize: 5,
    pageToken: 'x',
    contextId: '$context',
    status: 'TASK_STATE_WORKING',
    statusTimestampAfter: '2026-01-01T00:00:00Z',
    includeArtifacts: true,
  },
]
/** The methods of the extensions, whose requests have schemas. */
const extensionParams: ReadonlyMap<string, fc.Arbitrary<unknown>> = new Map(
  a2aShapes.flatMap(({ methods: own = [], shapes }) =>
    own.flatMap(({ method, request }) => {
      const shape = shapes[request]
      return shape === undefined ? [] : [[method, valuesOf(shape)] as const]
    }),
  ),
)
const coreParams = fc.constantFrom(...params)

const a2aDoor: readonly Requests[] = (['1.0', '0.3'] as const).flatMap((version) =>
  [...methods[version].keys()].map((method) =>
    spoilt(extensionParams.get(method) ?? coreParams).map(
      (given): Request => ({ door: 'a2a', version, method, given }),
    ),
  ),
)

const block = { type: 'text', text: 'go' }
const acpSamples: readonly (readonly [string, object])[] = [
  ['session/new', { cwd: '/work', mcpServers: [], _meta: { lull: { agent: 'parent' } } }],
  ['session/load', { cwd: '/work', mcpServers: [], sessionId: '$session' }],
  ['session/resume', { cwd: '/work', mcpServers: [], sessionId: '$session' }],
  ['session/list', { cwd: '/work', cursor: 'x' }],
  [
    'session/prompt',
    { sessionId: '$session', prompt: [block], _meta: { lull: { taskId: '$victim' } } },
  ],
  ['session/set_config_option', { sessionId: '$session', configId: 'x', value: 'y' }],
  ['authenticate', { methodId: 'x' }],
]
const acpDoor: readonly Requests[] = [
  ...acpSamples.map(([method, sample]) => [method, sampled(sample)] as const),
  ...acpShapes.flatMap(({ methods: own, shapes }) =>
    own.flatMap(({ names: spellings, params: name, from }) => {
      const shape = shapes[name]
      if (from !== 'client' || shape === undefined) return []
      return spellings.map((method) => [method, valuesOf(shape)] as const)
    }),
  ),
].map(([method, values]) =>
  spoilt(values).map((given): Request => ({ door: 'acp', version: '1', method, given })),
)

const importDoor: readonly Requests[] = (Object.keys(examples) as RecordType[]).map((type) =>
  fc
    .tuple(either(sampled(lastRecord(type)), valuesOf(recordSchema(type))), fc.boolean())
    .map(([given, start]): Request => ({ door: 'import', type, given, start })),
)

/** Every door, and every schema of a door, equally often. */
export const requests: Requests = fc.oneof(
  ...[engineDoor, opsDoor, a2aDoor, acpDoor, importDoor].map((door) => fc.oneof(...door)),
)
