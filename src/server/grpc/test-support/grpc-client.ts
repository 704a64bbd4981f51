/** A client on `@grpc/grpc-js`, whose codec (protobufjs) shares nothing with the server's. */
import {
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader'
import { descriptorSet } from '../../../wire/grpc/descriptors.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the server answers, whatever it is
export type Loose = any

export interface CallOptions {
  readonly metadata?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
}

export interface GrpcClient {
  call(method: string, request: object, options?: CallOptions): Promise<Loose>
  stream(method: string, request: object, options?: CallOptions): ClientReadableStream<Loose>
  /** The frames of a stream that the server ends. */
  frames(method: string, request: object, options?: CallOptions): Promise<readonly Loose[]>
  close(): void
}

const loaded = loadPackageDefinition(
  loadFileDescriptorSetFromBuffer(Buffer.from(descriptorSet, 'base64'), {
    arrays: true,
    enums: String,
    longs: Number,
    oneofs: true,
  }),
) as Loose

/** @param service such as `lf.a2a.v1.A2AService` */
export function openGrpcClient(address: string, service: string): GrpcClient {
  const Service = service.split('.').reduce((found, name) => found[name], loaded)
  const client = new Service(address, credentials.createInsecure())

  function stream(
    method: string,
    request: object,
    { metadata, deadlineMs }: CallOptions = {},
  ): ClientReadableStream<Loose> {
    return client[method](renamed(request, toSnake), metadataOf(metadata), deadlineOf(deadlineMs))
  }

  return {
    call: (method, request, { metadata, deadlineMs } = {}) =>
      new Promise((resolve, reject) => {
        const answer = (error: ServiceError | null, value: unknown): void =>
          error === null ? resolve(renamed(value, toJsonName)) : reject(error)
        client[method](
          renamed(request, toSnake),
          metadataOf(metadata),
          deadlineOf(deadlineMs),
          answer,
        )
      }),
    stream,
    async frames(method, request, options) {
      const found: Loose[] = []
      for await (const frame of stream(method, request, options)) found.push(toJsonNames(frame))
      return found
    },
    close: () => client.close(),
  }
}

/** A message with the names of JSON. Read from descriptors, protobufjs has those of the proto. */
export const toJsonNames = (message: Loose): Loose => renamed(message, toJsonName)

const toSnake = (name: string): string => name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)
export const toJsonName = (name: string): string =>
  name.replace(/_([a-z])/g, (_, one: string) => one.toUpperCase())

function renamed(value: Loose, rename: (name: string) => string): Loose {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename))
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [rename(name), renamed(one, rename)]),
  )
}

function metadataOf(given: CallOptions['metadata'] = {}): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(given)) metadata.set(name, value)
  return metadata
}

function deadlineOf(ms: number | undefined): { deadline?: number } {
  return ms === undefined ? {} : { deadline: Date.now() + ms }
}

/** A `google.protobuf.Value`, as protobufjs spells it. */
export function toValue(value: unknown): Loose {
  if (value === null) return { nullValue: 'NULL_VALUE' }
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'number') return { numberValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } }
  return { structValue: toStruct(value as object) }
}

/** Read from descriptors, protobufjs has the entries of a map as messages. */
export function toStruct(value: object): Loose {
  return { fields: Object.entries(value).map(([key, one]) => ({ key, value: toValue(one) })) }
}

export function fromValue({ kind, ...value }: Loose): unknown {
  const name = toJsonName(kind)
  if (name === 'structValue') return fromStruct(value.structValue)
  if (name === 'listValue') return value.listValue.values.map(fromValue)
  return name === 'nullValue' ? null : value[name]
}

export function fromStruct({ fields }: Loose): Loose {
  return Object.fromEntries(fields.map(({ key, value }: Loose) => [key, fromValue(value)]))
}
