/** Sends calls over gRPC. Loaded only where it is chosen: it needs Node. */
import {
  type DescMethod,
  fromBinary,
  type Message,
  type JsonObject as ProtoJson,
} from '@bufbuild/protobuf'
import { Code, ConnectError, type Transport as GrpcConnection } from '@connectrpc/connect'
import { createGrpcTransport as connectTo } from '@connectrpc/connect-node'
import { extensionMethodList } from '../../wire/a2a-extension-methods.ts'
import {
  A2A_SERVICE,
  grpcFiles,
  jsonOf,
  messageFrom,
  methodNamed,
  TASK_CONTROL_SERVICE,
} from '../../wire/grpc/messages.ts'
import { isClientError, unreachable, unsupported } from '../client-error.ts'
import type { Operation } from './a2a-names.ts'
import { readError } from './error-format.ts'
import type { HeaderSource } from './http-client.ts'
import { isObject, omitUndefined, readObject, readString } from './json-members.ts'
import {
  type CallOptions,
  type Framed,
  headersOf,
  type Params,
  type Transport,
} from './transport.ts'

export interface GrpcTransportOptions {
  /** `http:` without TLS, `https:` with it. */
  readonly url: string
  readonly tenant?: string | undefined
  readonly headers?: HeaderSource | undefined
  readonly idleMs: number
}

const CURSOR = 'urn:lull:a2a:cursor:1'
/** An open connection keeps a program running, so one without calls is closed soon. */
const IDLE_CONNECTION_MS = 500

export function createGrpcTransport(options: GrpcTransportOptions): Transport {
  const { url, tenant, headers: source = {}, idleMs } = options
  const connection = connectTo({
    baseUrl: url,
    idleConnectionTimeoutMs: IDLE_CONNECTION_MS,
    pingIntervalMs: idleMs,
  })

  async function fieldsOf(refused: boolean, given: CallOptions['headers']): Promise<Headers> {
    const credentials = typeof source === 'function' ? await source({ url, refused }) : source
    const { 'content-type': _type, accept: _accept, ...own } = headersOf('1.0')
    const extensions = `${own['a2a-extensions']},${CURSOR}`
    return new Headers({ ...own, 'a2a-extensions': extensions, ...credentials, ...given })
  }

  const requestOf = (method: DescMethod, params: Params) =>
    messageFrom(method.input, JSON.parse(JSON.stringify({ tenant, ...params })))

  /** Calls again with new credentials if the first ones are not valid any more. */
  async function withCredentials<T>(
    { signal, headers }: CallOptions,
    work: (fields: Headers) => Promise<T>,
  ): Promise<T> {
    try {
      return await work(await fieldsOf(false, headers))
    } catch (error) {
      signal?.throwIfAborted()
      const isRefused = ConnectError.from(error).code === Code.Unauthenticated
      if (!isRefused || typeof source !== 'function') throw error
      return await work(await fieldsOf(true, headers))
    }
  }

  return {
    async call(operation, params, options = {}) {
      try {
        const method = methodFor(operation, 'unary')
        const request = requestOf(method, params)
        const { message } = await withCredentials(options, (fields) =>
          connection.unary(method, options.signal, undefined, fields, request),
        )
        return jsonOf(method.output, message, operation.isExtension)
      } catch (error) {
        options.signal?.throwIfAborted()
        throw readGrpcError(operation, url, error)
      }
    },
    async *stream(operation, params, options = {}) {
      // A caller that reads no further ends the call.
      const left = new AbortController()
      const signals = [left.signal, ...(options.signal === undefined ? [] : [options.signal])]
      try {
        const method = methodFor(operation, 'server_streaming')
        const request = requestOf(method, params)
        const { message } = await withCredentials(options, (fields) =>
          openStream(connection, method, request, fields, AbortSignal.any(signals)),
        )
        for await (const frame of message) yield framed(jsonOf(method.output, frame))
      } catch (error) {
        options.signal?.throwIfAborted()
        throw readGrpcError(operation, url, error)
      } finally {
        left.abort()
      }
    },
  }
}

function methodFor<K extends 'unary' | 'server_streaming'>({ method, name }: Operation, kind: K) {
  const named = method['1.0'] ?? name
  const control = extensionMethodList.find((one) => one.method === named)
  return control === undefined
    ? methodNamed(A2A_SERVICE, named, kind)
    : methodNamed(TASK_CONTROL_SERVICE, control.shape, kind)
}

/** The id of the frame is in the metadata of its task, message or update. */
function framed(frame: ProtoJson): Framed {
  const [[name, content] = []] = Object.entries(frame)
  const metadata = readObject(content, 'metadata')
  const cursor = readString(metadata?.[CURSOR], 'id') ?? ''
  if (name === undefined || !isObject(content) || metadata === undefined) {
    return { cursor, value: frame }
  }
  const { [CURSOR]: _cursor, ...rest } = metadata
  const shown = Object.keys(rest).length === 0 ? undefined : rest
  return { cursor, value: { [name]: omitUndefined({ ...content, metadata: shown }) } }
}

const TYPE = 'type.googleapis.com/'

/** Statuses without details, by their names in other bindings. */
const reasons: Partial<Readonly<Record<Code, string>>> = {
  [Code.Unauthenticated]: 'UNAUTHENTICATED',
  [Code.PermissionDenied]: 'FORBIDDEN',
  [Code.ResourceExhausted]: 'LIMIT_EXCEEDED',
  [Code.NotFound]: 'TASK_NOT_FOUND',
  [Code.InvalidArgument]: 'INVALID_PARAMS',
  [Code.FailedPrecondition]: 'UNSUPPORTED_OPERATION',
  [Code.Internal]: 'INTERNAL',
}

function readGrpcError(operation: Operation, url: string, error: unknown): Error {
  if (isClientError(error)) return error
  const { code, rawMessage: message, details } = ConnectError.from(error)
  const known = details.flatMap((detail) => ('type' in detail ? [readDetail(detail)] : []))
  if (code === Code.Unimplemented) return unsupported(operation.name, error)
  const reason = reasons[code]
  if (known.length > 0) return readError({ message, details: known }, undefined)
  // Of other statuses it is unknown whether the peer acted.
  return reason === undefined
    ? unreachable(url, error)
    : readError({ message, code: reason }, undefined)
}

function readDetail({ type, value }: { readonly type: string; readonly value: Uint8Array }) {
  const desc = grpcFiles.getMessage(type)
  const content = desc === undefined ? {} : jsonOf(desc, fromBinary(desc, value))
  return { ...content, '@type': `${TYPE}${type}` }
}

async function openStream(
  connection: GrpcConnection,
  method: ReturnType<typeof methodFor<'server_streaming'>>,
  request: Message,
  fields: Headers,
  signal: AbortSignal,
) {
  async function* once(): AsyncGenerator<Message, void> {
    yield request
  }
  return connection.stream(method, signal, undefined, fields, once())
}
