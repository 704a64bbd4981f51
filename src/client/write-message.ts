/** Writes a message in the version and binding of the peer. Callers use the shape of 1.0. */
import type { JsonObject } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'
import type { Binding, Version } from './version.ts'
import { isObject } from './wire/json-members.ts'

export function writeMessage(message: Message, version: Version, binding: Binding): object {
  if (version === '1.0') return message
  const { role, parts, ...rest } = message
  // Over REST the peers of 0.3 read the names of its proto.
  if (binding === 'HTTP+JSON') return { ...rest, role, content: parts.map(protoPart) }
  return {
    kind: 'message',
    ...rest,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(kindPart),
  }
}

function kindPart(part: Part): object {
  const facts = factsOf(part)
  if ('text' in part) return { kind: 'text', text: part.text, ...facts }
  if ('data' in part) return { kind: 'data', data: objectOf(part.data), ...facts }
  const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url }
  return { kind: 'file', file: { ...content, ...fileFacts(part) }, ...facts }
}

function protoPart(part: Part): object {
  const facts = factsOf(part)
  if ('text' in part) return { text: part.text, ...facts }
  if ('data' in part) return { data: { data: objectOf(part.data) }, ...facts }
  const content = 'raw' in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url }
  return { file: { ...content, ...fileFacts(part) }, ...facts }
}

function factsOf({ metadata }: Part): object {
  return metadata === undefined ? {} : { metadata }
}

function fileFacts({ filename, mediaType }: Part): object {
  return {
    ...(filename === undefined ? {} : { name: filename }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  }
}

/** In 0.3 data must be an object. */
function objectOf(data: unknown): JsonObject {
  return isObject(data) ? data : ({ value: data } as JsonObject)
}
