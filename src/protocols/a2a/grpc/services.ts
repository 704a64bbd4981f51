/**
 * `lf.a2a.v1.A2AService` and `lull.a2a.v1.TaskControl` over gRPC. Binary messages become ProtoJSON, which the methods of
 * A2A 1.0 read and write, and back: there is no codec beside that of 1.0.
 */
import type { DescMessage, DescMethod, JsonValue, Message } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextKey,
  createContextKey,
  type HandlerContext,
} from '@connectrpc/connect'
import { describeError } from '../../../core/values/describe-error.ts'
import type { HttpHeaders } from '../../../http/http.ts'
import { extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
import {
  A2A_SERVICE,
  grpcFiles,
  jsonOf,
  messageFrom,
  methodNamed,
  serviceNamed,
  TASK_CONTROL_SERVICE,
} from '../../../wire/grpc/messages.ts'
import { isObject, type Params } from '../addresses/params.ts'
import type { CallMethod, MethodCall, MethodError } from '../bindings/by-name.ts'
import type { A2AEnv } from '../call.ts'
import { CURSOR } from '../extensions.ts'
import { framesIn } from './frames-in.ts'

/** What the server knows of a request. */
export interface GrpcExchange {
  readonly env: A2AEnv
  /** @param name in small letters */
  header(name: string): string | undefined
  /** Told the name of the method that the request calls, for the server's spans. */
  calls?(method: string): void
}

export const grpcExchange: ContextKey<GrpcExchange | undefined> = createContextKey<
  GrpcExchange | undefined
>(undefined)

export function addA2AServices(router: ConnectRouter, call: CallMethod): void {
  for (const { name } of serviceNamed(A2A_SERVICE).methods) {
    if (streams.has(name)) addStreaming(router, name, call)
    else addUnary(router, A2A_SERVICE, name, name, call)
  }
  for (const { shape, method } of extensionMethodList) {
    addUnary(router, TASK_CONTROL_SERVICE, shape, method, call)
  }
}

const streams: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask'])

/** @param method the name of the method in JSON-RPC */
function addUnary(
  router: ConnectRouter,
  service: string,
  name: string,
  method: string,
  call: CallMethod,
): void {
  const desc = methodNamed(service, name, 'unary')
  router.rpc(desc, (request, context) => unary(desc, method, call, request, context))
}

function addStreaming(router: ConnectRouter, name: string, call: CallMethod): void {
  const desc = methodNamed(A2A_SERVICE, name, 'server_streaming')
  router.rpc(desc, (request, context) => streaming(desc, name, call, request, context))
}

async function unary(
  { input, output }: DescMethod,
  name: string,
  call: CallMethod,
  request: Message,
  context: HandlerContext,
): Promise<Message> {
  const answer = await call(callOf(name, input, request, context), envOf(context))
  context.signal.throwIfAborted()
  setHeaders(context.responseHeader, answer.headers)
  if (answer.error !== undefined) throw errorOf(answer.error, answer.headers)
  if (answer.frames !== undefined) throw new ConnectError('No stream was expected', Code.Internal)
  return messageFrom(output, JSON.parse(answer.text))
}

async function* streaming(
  { input, output }: DescMethod,
  name: string,
  call: CallMethod,
  request: Message,
  context: HandlerContext,
): AsyncGenerator<Message, void> {
  const { signal, requestHeader } = context
  const answer = await call(callOf(name, input, request, context), envOf(context))
  setHeaders(context.responseHeader, answer.headers)
  if (answer.error !== undefined) throw errorOf(answer.error, answer.headers)
  if (answer.frames === undefined) throw new ConnectError('A stream was expected', Code.Internal)
  const withCursor = requestHeader.get('a2a-extensions')?.includes(CURSOR) === true
  const frameOf = ({ id, data }: { readonly id: string; readonly data: string }): Message => {
    const frame: JsonValue = JSON.parse(data)
    return messageFrom(output, withCursor ? withId(frame, id) : frame)
  }
  if (typeof answer.frames === 'string') {
    for (const frame of framesIn(answer.frames)) yield frameOf(frame)
    return
  }
  const source = answer.frames
  const close = (): void => source.close()
  signal.addEventListener('abort', close)
  try {
    for (;;) {
      const { text, last } = await source.next()
      signal.throwIfAborted()
      for (const frame of framesIn(text)) yield frameOf(frame)
      if (!last) continue
      if (text === '' && answer.isStopping()) throw stopping()
      return
    }
  } finally {
    signal.removeEventListener('abort', close)
    source.close()
  }
}

/** The client can continue elsewhere with its cursor. */
function stopping(): ConnectError {
  return new ConnectError('The server is stopping', Code.Unavailable)
}

function envOf({ values }: HandlerContext): A2AEnv {
  return exchangeOf(values).env
}

function exchangeOf(values: HandlerContext['values']): GrpcExchange {
  const exchange = values.get(grpcExchange)
  if (exchange === undefined) throw new ConnectError('The call has no caller', Code.Internal)
  return exchange
}

function callOf(
  method: string,
  input: DescMessage,
  request: Message,
  { values, signal }: HandlerContext,
): MethodCall {
  const { header, calls } = exchangeOf(values)
  return {
    method,
    params: paramsOf(input, request),
    request: {
      header,
      ...(calls === undefined ? {} : { calls }),
      // The signal fires when the client has gone, and at the deadline of the call.
      onGone(left) {
        if (signal.aborted) left()
        signal.addEventListener('abort', left)
        return () => signal.removeEventListener('abort', left)
      },
    },
  }
}

/** @throws ConnectError for a value that JSON does not have, such as NaN or a `Value` without a kind */
function paramsOf(input: DescMessage, request: Message): Params {
  try {
    return jsonOf(input, request)
  } catch (error) {
    throw new ConnectError(describeError(error).message, Code.InvalidArgument)
  }
}

/** Adds the id to the metadata of the frame, whose one member is a task, a message or an update. */
function withId(frame: JsonValue, id: string): JsonValue {
  if (!isObject(frame)) return frame
  const [[name, content] = []] = Object.entries(frame)
  if (name === undefined || !isObject(content)) return frame
  const { metadata } = content
  const known = isObject(metadata) ? metadata : {}
  return { [name]: { ...content, metadata: { ...known, [CURSOR]: { id } } } } as JsonValue
}

function setHeaders(to: Headers, from: HttpHeaders): void {
  for (const [name, value] of Object.entries(from)) to.set(name, value)
}

/** The codes by the names of google.rpc.Code, such as `NOT_FOUND`. */
const codes: ReadonlyMap<string, Code> = new Map(
  Object.entries(Code).flatMap(([name, code]) =>
    typeof code === 'number' ? [[constantOf(name), code] as const] : [],
  ),
)

/** `NotFound` becomes `NOT_FOUND`. A2A and HTTP write `CANCELLED` with two l. */
function constantOf(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()
}

const TYPE = 'type.googleapis.com/'

function errorOf({ status, message, details }: MethodError, headers: HttpHeaders): ConnectError {
  const found = details.flatMap((detail) => {
    if (!isObject(detail)) return []
    const { '@type': type, ...value } = detail
    const desc = grpcFiles.getMessage(String(type).slice(TYPE.length))
    return desc === undefined ? [] : [{ desc, value: messageFrom(desc, value as JsonValue) }]
  })
  // A text that was cut in the middle of a character cannot be encoded.
  const wellFormed = Buffer.from(message).toString()
  return new ConnectError(wellFormed, codes.get(status) ?? Code.Unknown, headers, found)
}
