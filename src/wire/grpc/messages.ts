/** The messages and services over gRPC, made at run time from their descriptors. Loaded only where gRPC is spoken. */
import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type DescService,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf'
import { base64Decode } from '@bufbuild/protobuf/wire'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptorSet } from './descriptors.ts'

export const A2A_SERVICE = 'lf.a2a.v1.A2AService'
export const TASK_CONTROL_SERVICE = 'lull.a2a.v1.TaskControl'
export const HEALTH_SERVICE = 'grpc.health.v1.Health'
/** Version 1, and the one before it that many clients still ask for. */
export const REFLECTION_SERVICES: readonly string[] = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
]

export const grpcFiles: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, base64Decode(descriptorSet.replaceAll('\n', ''))),
)

/** @throws Error when the descriptors lack the service */
export function serviceNamed(name: string): DescService {
  const found = grpcFiles.getService(name)
  if (found === undefined) throw new Error(`There is no service ${name}`)
  return found
}

/**
 * How deep messages may nest. A level of JSON is up to three messages: a value, its object or list, and an entry. Servers
 * check the depth of requests before they read them.
 */
export const RECURSION_LIMIT = 300

type Kind = DescMethod['methodKind']

function isOfKind<K extends Kind>(
  method: DescMethod | undefined,
  kind: K,
): method is DescMethod & { methodKind: K } {
  return method?.methodKind === kind
}

/** @throws Error when the descriptors lack the method, or it is of another kind */
export function methodNamed<K extends Kind>(
  service: string,
  name: string,
  kind: K,
): DescMethod & { methodKind: K } {
  const found = serviceNamed(service).methods.find((one) => one.name === name)
  if (!isOfKind(found, kind)) throw new Error(`${service} has no ${kind} method ${name}`)
  return found
}

/** Members that the message does not have are dropped, as any reader of ProtoJSON may. */
export function messageFrom(desc: DescMessage, json: JsonValue): Message {
  return fromJson(desc, json, {
    ignoreUnknownFields: true,
    recursionLimit: RECURSION_LIMIT,
    registry: grpcFiles,
  })
}

/** A message as ProtoJSON. @param whole also members with default values */
export function jsonOf(desc: DescMessage, message: Message, whole = false): JsonObject {
  const json = toJson(desc, message, { registry: grpcFiles, alwaysEmitImplicit: whole })
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {}
}
