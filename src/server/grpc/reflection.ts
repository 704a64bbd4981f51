/** `grpc.reflection`: the descriptors of the services, so that tools such as grpcurl need no proto files. */
import { type DescFile, type JsonObject, toBinary } from '@bufbuild/protobuf'
import { base64Encode } from '@bufbuild/protobuf/wire'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { Code, type ConnectRouter } from '@connectrpc/connect'
import {
  A2A_SERVICE,
  grpcFiles,
  HEALTH_SERVICE,
  jsonOf,
  messageFrom,
  methodNamed,
  REFLECTION_SERVICES,
  TASK_CONTROL_SERVICE,
} from '../../wire/grpc/messages.ts'

const services = [A2A_SERVICE, TASK_CONTROL_SERVICE, HEALTH_SERVICE, ...REFLECTION_SERVICES]

export function addReflection(router: ConnectRouter): void {
  for (const service of REFLECTION_SERVICES) {
    const method = methodNamed(service, 'ServerReflectionInfo', 'bidi_streaming')
    router.rpc(method, async function* (requests) {
      for await (const request of requests) {
        const asked = jsonOf(method.input, request)
        const { host: validHost = '' } = asked
        yield messageFrom(method.output, { validHost, originalRequest: asked, ...answerTo(asked) })
      }
    })
  }
}

function answerTo(asked: JsonObject): JsonObject {
  const { fileByFilename: name, fileContainingSymbol: symbol, listServices } = asked
  if (listServices !== undefined) {
    return { listServicesResponse: { service: services.map((one) => ({ name: one })) } }
  }
  if (typeof name === 'string') return filesOf(grpcFiles.getFile(name))
  if (typeof symbol === 'string') return filesOf(fileOf(symbol))
  return errorOf(Code.Unimplemented, 'No message of these services has extensions')
}

/** The file that declares a type, a service or a method of a service. */
function fileOf(symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(symbol.lastIndexOf('.'), 0))
  return (grpcFiles.get(symbol) ?? grpcFiles.getService(parent))?.file
}

/** The file with every file it needs. */
function filesOf(file: DescFile | undefined): JsonObject {
  if (file === undefined) return errorOf(Code.NotFound, 'There is no such file or symbol')
  const files = [file, ...file.dependencies].map(({ proto }) =>
    base64Encode(toBinary(FileDescriptorProtoSchema, proto)),
  )
  return { fileDescriptorResponse: { fileDescriptorProto: files } }
}

function errorOf(errorCode: Code, errorMessage: string): JsonObject {
  return { errorResponse: { errorCode, errorMessage } }
}
