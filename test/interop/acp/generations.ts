/**
 * The official SDK as a client, in the generations editors ship: classes up to 0.20, builders since. Each is driven through
 * one small surface, so that the same test can be told of all of them; what a generation does not have, it says.
 */

import * as acp24 from '@agentclientprotocol/sdk'
import * as draft from '@agentclientprotocol/sdk/experimental/v2'
import * as acp12 from 'acp-sdk-0-12'
import * as acp20 from 'acp-sdk-0-20'
import * as acp19 from 'acp-sdk-1-9'

// biome-ignore lint/suspicious/noExplicitAny: four sets of types for the same JSON
export type Any = any

export interface Heard {
  readonly method: string
  readonly params: Any
}

export interface Bytes {
  readonly output: WritableStream<Uint8Array>
  readonly input: ReadableStream<Uint8Array>
}

/** What the client does when it is asked; a request without an answer here is refused as unknown. */
export interface Answers {
  readonly permission?: (params: Any, signal?: AbortSignal) => Any
  /** Whether it knows of our notifications. Editors do not. */
  readonly listens?: boolean
  /** By method, for requests of the extension. */
  readonly others?: Readonly<Record<string, (params: Any) => Any>>
}

export interface Peer {
  /** `session/update` notifications, in the order its handler saw them. */
  readonly updates: readonly Any[]
  /** Everything else it was told. */
  readonly heard: readonly Heard[]
  request(method: string, params: object, signal?: AbortSignal): Promise<Any>
  notify(method: string, params: object): Promise<void>
}

export interface Generation {
  readonly version: string
  /** Methods its surface has no name for. */
  readonly lacks: readonly string[]
  /** What the protocol has got since: it prints an error for each and goes on. Nothing tells us that it would. */
  readonly predates: readonly string[]
  connect(bytes: Bytes, answers: Answers): Peer
}

/** The methods of `ClientSideConnection`. */
const named = {
  initialize: 'initialize',
  'session/new': 'newSession',
  'session/load': 'loadSession',
  'session/list': 'listSessions',
  'session/resume': 'resumeSession',
  'session/close': 'closeSession',
  'session/prompt': 'prompt',
  'session/set_config_option': 'setSessionConfigOption',
  'session/cancel': 'cancel',
}

interface Classes {
  readonly ndJsonStream: Any
  readonly ClientSideConnection: Any
}

function withClasses(
  { ndJsonStream, ClientSideConnection }: Classes,
  methods: Readonly<Record<string, string>>,
  /** 0.12 puts the underscore of extensions there itself, and takes it away. */
  bare: (method: string) => string,
  full: (method: string) => string,
): Generation['connect'] {
  return ({ output, input }, { permission, listens = false, others }) => {
    const updates: Any[] = []
    const heard: Heard[] = []
    const client = {
      sessionUpdate: async (params: Any) => void updates.push(params),
      requestPermission: async (params: Any) => permission?.(params),
      ...(others && {
        extMethod: async (method: string, params: Any) => answer(others, full(method), params),
      }),
      ...(listens && {
        extNotification: async (method: string, params: Any) =>
          void heard.push({ method: full(method), params }),
      }),
    }
    const connection = new ClientSideConnection(() => client, ndJsonStream(output, input))
    return {
      updates,
      heard,
      async request(method, params) {
        const name = methods[method]
        if (name !== undefined) return connection[name](params)
        if (method.startsWith('_')) return connection.extMethod(bare(method), params)
        throw new Error(`this generation has no ${method}`)
      },
      async notify(method, params) {
        const name = methods[method]
        if (name !== undefined) return connection[name](params)
        return connection.extNotification(bare(method), params)
      },
    }
  }
}

interface Builders {
  readonly ndJsonStream: Any
  readonly client: Any
}

function withBuilders(sdk: Builders): Generation['connect'] {
  return ({ output, input }, answers) =>
    connectBuilt(sdk, sdk.ndJsonStream(output, input), answers).peer
}

/** On any stream of messages, as the SDK's own transports are. */
export function connectBuilt(
  { client }: Builders,
  stream: Any,
  { permission, listens = false, others = {} }: Answers,
): { readonly peer: Peer; close(): void; readonly closed: Promise<void> } {
  const updates: Any[] = []
  const heard: Heard[] = []
  const told = (method: string) => [
    method,
    (params: Any) => params,
    ({ params }: Any) => {
      heard.push({ method, params })
    },
  ]
  let app = client({ name: 'interop' })
    .onNotification('session/update', ({ params }: Any) => {
      updates.push(params)
    })
    .onRequest('session/request_permission', ({ params, signal }: Any) =>
      permission?.(params, signal),
    )
  for (const method of listens ? notifications : []) app = app.onNotification(...told(method))
  for (const method of Object.keys(others)) {
    app = app.onRequest(
      method,
      (params: Any) => params,
      ({ params }: Any) => answer(others, method, params),
    )
  }
  const connection = app.connect(stream)
  return {
    peer: {
      updates,
      heard,
      request: (method, params, cancellationSignal) =>
        connection.agent.request(method, params, cancellationSignal && { cancellationSignal }),
      notify: (method, params) => connection.agent.notify(method, params),
    },
    close: () => connection.close(),
    closed: connection.closed,
  }
}

const notifications = [
  '_session/suspended',
  '_session/resumed',
  '_session/reminder',
  '_session/turn_ended',
]

function answer(others: NonNullable<Answers['others']>, method: string, params: Any): Any {
  const found = others[method]
  if (found === undefined) throw new acp20.RequestError(-32601, `no ${method}`)
  return found(params)
}

const same = (method: string): string => method
const { 'session/close': _close, 'session/set_config_option': _set, ...in12 } = named

export const generations: Readonly<Record<string, Generation>> = {
  '0.12.0': {
    version: '0.12.0',
    lacks: ['session/close', 'session/set_config_option', '$/cancel_request'],
    predates: ['usage_update', '$/cancel_request'],
    connect: withClasses(
      acp12,
      {
        ...in12,
        'session/list': 'unstable_listSessions',
        'session/resume': 'unstable_resumeSession',
      },
      (method) => method.slice(1),
      (method) => `_${method}`,
    ),
  },
  '0.20.0': {
    version: '0.20.0',
    lacks: ['$/cancel_request'],
    predates: ['$/cancel_request'],
    connect: withClasses(acp20, named, same, same),
  },
  '1.9.0': { version: '1.9.0', lacks: [], predates: [], connect: withBuilders(acp19) },
  '2.4.0': { version: '2.4.0', lacks: [], predates: [], connect: withBuilders(acp24) },
}

/** The same SDK, for version 2 of the protocol. */
export const version2: Generation = {
  version: '2.4.0 for version 2',
  lacks: ['session/load'],
  predates: [],
  connect: withBuilders(draft),
}
