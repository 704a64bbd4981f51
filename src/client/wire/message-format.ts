/**
 * Reads messages, artifacts, statuses and parts of both versions, and writes messages for the version and binding of the
 * peer. Inside the client they have the shape of 1.0. Unknown members are left out; an unknown part is kept as data.
 */

import type { Artifact, Message, Part, PartDetails } from '../../core/messages/message.ts'
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { TaskStatus } from '../tasks/task-types.ts'
import type { Binding, Version } from './a2a-names.ts'
import {
  isObject,
  omitUndefined,
  readList,
  readMember,
  readObject,
  readSomeStrings,
  readString,
} from './json-members.ts'

export interface ContentReader {
  message(value: JsonObject): Message
  artifact(value: JsonObject): Artifact
  status(value: unknown): TaskStatus
}

export function createContentReader(version: Version): ContentReader {
  const read = readPart[version]

  function message(value: JsonObject): Message {
    // REST of 0.3 has `content`.
    const listed = readList(value, 'parts')
    const parts = listed.length > 0 ? listed : readList(value, 'content')
    const role = readString(value, 'role')
    return omitUndefined<Message>({
      messageId: readString(value, 'messageId') ?? '',
      role: role === 'user' || role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT',
      parts: parts.map(read),
      contextId: readString(value, 'contextId'),
      taskId: readString(value, 'taskId'),
      referenceTaskIds: readSomeStrings(value, 'referenceTaskIds'),
      extensions: readSomeStrings(value, 'extensions'),
      metadata: readObject(value, 'metadata'),
    })
  }

  function artifact(value: JsonObject): Artifact {
    return omitUndefined<Artifact>({
      artifactId: readString(value, 'artifactId') ?? '',
      name: readString(value, 'name'),
      description: readString(value, 'description'),
      parts: readList(value, 'parts').map(read),
      extensions: readSomeStrings(value, 'extensions'),
      metadata: readObject(value, 'metadata'),
    })
  }

  function status(value: unknown): TaskStatus {
    const lastMessage = readObject(value, 'message')
    return omitUndefined<TaskStatus>({
      state: readString(value, 'state') ?? '',
      message: lastMessage && message(lastMessage),
      timestamp: readString(value, 'timestamp'),
    })
  }

  return { message, artifact, status }
}

const readPart: Readonly<Record<Version, (value: Json) => Part>> = {
  '1.0': readPart10,
  '0.3': readPart03,
}

function readPart10(value: Json): Part {
  const details = readPartDetails(
    value,
    readString(value, 'mediaType'),
    readString(value, 'filename'),
  )
  for (const name of ['text', 'raw', 'url'] as const) {
    const content = readString(value, name)
    if (content !== undefined) return { [name]: content, ...details } as Part
  }
  const data = readMember(value, 'data')
  return { data: data === undefined ? value : data, ...details }
}

function readPart03(value: Json): Part {
  const text = readString(value, 'text')
  if (text !== undefined) return { text, ...readPartDetails(value) }
  const file = readObject(value, 'file')
  if (file === undefined) {
    const data = readMember(value, 'data')
    // REST of 0.3 wraps the value in another `data`.
    const inner = readString(value, 'kind') === undefined ? readMember(data, 'data') : undefined
    return { data: inner ?? data ?? value, ...readPartDetails(value) }
  }
  const details = readPartDetails(value, readString(file, 'mimeType'), readString(file, 'name'))
  const bytes = readString(file, 'bytes') ?? readString(file, 'fileWithBytes')
  if (bytes !== undefined) return { raw: bytes, ...details }
  return { url: readString(file, 'uri') ?? readString(file, 'fileWithUri') ?? '', ...details }
}

function readPartDetails(value: Json, mediaType?: string, filename?: string): PartDetails {
  // Some peers send empty texts for members that they do not set.
  const orAbsent = (text: string | undefined): string | undefined => text || undefined
  return omitUndefined<PartDetails>({
    mediaType: orAbsent(mediaType),
    filename: orAbsent(filename),
    metadata: readObject(value, 'metadata'),
  })
}

export function writeMessage(message: Message, version: Version, binding: Binding): object {
  if (version === '1.0') return message
  const { role, parts, ...rest } = message
  if (binding === 'HTTP+JSON') return { ...rest, role, content: parts.map(writeProtoPart) }
  return {
    kind: 'message',
    ...rest,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(writeKindPart),
  }
}

/** For JSON-RPC of 0.3, whose parts have a `kind`. */
function writeKindPart(part: Part): object {
  const metadata = metadataOf(part)
  if ('text' in part) return { kind: 'text', text: part.text, ...metadata }
  if ('data' in part) return { kind: 'data', data: wrapData(part.data), ...metadata }
  const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url }
  return { kind: 'file', file: { ...content, ...fileDetails(part) }, ...metadata }
}

/** For REST of 0.3, whose parts have the names of the proto. */
function writeProtoPart(part: Part): object {
  const metadata = metadataOf(part)
  if ('text' in part) return { text: part.text, ...metadata }
  if ('data' in part) return { data: { data: wrapData(part.data) }, ...metadata }
  const content = 'raw' in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url }
  return { file: { ...content, ...fileDetails(part) }, ...metadata }
}

function metadataOf({ metadata }: Part): object {
  return metadata === undefined ? {} : { metadata }
}

function fileDetails({ filename, mediaType }: Part): object {
  return {
    ...(filename === undefined ? {} : { name: filename }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  }
}

/** In 0.3 data must be an object. */
function wrapData(data: unknown): JsonObject {
  return isObject(data) ? data : ({ value: data } as JsonObject)
}
