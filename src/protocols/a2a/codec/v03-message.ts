/** Messages and parts of A2A 0.3. Read leniently, as the seeds write them: `kind` may be missing. */
import type { JsonObject } from '../../../core/json.ts'
import type { Message, Part } from '../../../core/message.ts'
import { isObject } from '../params.ts'

const roles: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' }

export function readMessage03(value: unknown): Message {
  if (!isObject(value)) return value as never
  const message: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(value)) {
    if (given !== null && name !== 'kind') message[name] = given
  }
  const { role, parts } = message
  // Unknown roles are left for the engine to refuse, and so are the 1.0 spellings: this is 0.3.
  message['role'] = typeof role === 'string' ? (roles[role] ?? `unknown role ${role}`) : role
  if (Array.isArray(parts)) message['parts'] = parts.map(readPart03)
  return message as unknown as Message
}

/** What is not a part of 0.3 becomes an empty object, which the engine refuses with the path. */
function readPart03(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind, metadata } = value
  const facts = metadata === undefined || metadata === null ? {} : { metadata }
  if ((kind ?? 'text') === 'text' && 'text' in value) return { text: value['text'], ...facts }
  if ((kind ?? 'data') === 'data' && 'data' in value) return { data: value['data'], ...facts }
  const { file } = value
  if ((kind ?? 'file') !== 'file' || !isObject(file)) return {}
  const { bytes, uri, name, mimeType } = file
  return {
    ...(bytes === undefined ? {} : { raw: bytes }),
    ...(uri === undefined ? {} : { url: uri }),
    ...(typeof name === 'string' ? { filename: name } : {}),
    ...(typeof mimeType === 'string' ? { mediaType: mimeType } : {}),
    ...facts,
  }
}

export function wireMessage({ role, parts, ...message }: Message): object {
  return {
    kind: 'message',
    ...message,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(wirePart),
  }
}

export function wirePart(part: Part): object {
  const { metadata } = part
  const facts = metadata === undefined ? {} : { metadata }
  if ('text' in part) return { kind: 'text', text: part.text, ...facts }
  if ('data' in part) return { kind: 'data', data: objectOf(part.data), ...facts }
  const { filename, mediaType } = part
  return {
    kind: 'file',
    file: {
      ...(filename === undefined ? {} : { name: filename }),
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
      ...('raw' in part ? { bytes: part.raw } : { uri: part.url }),
    },
    ...facts,
  }
}

/** 0.3 knows objects only; 1.0 any value. */
export function objectOf(data: unknown): JsonObject {
  return isObject(data) ? (data as JsonObject) : ({ value: data } as JsonObject)
}
