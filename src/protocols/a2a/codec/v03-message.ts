/** Messages and parts of A2A 0.3. `kind` may be missing, because the examples of the RFCs omit it. */

import type { Message, Part } from '../../../core/messages/message.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { message as messageInput } from '../../../engine/input/inputs.ts'
import { check } from '../../../engine/input/parse.ts'
import { invalid, isObject, optionalText, type Params } from '../addresses/params.ts'

const roles: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' }

export function readMessage03(value: unknown): Message {
  if (!isObject(value)) return check(messageInput, value, 'message')
  if ((value['kind'] ?? 'message') !== 'message') throw invalid('message.kind', 'must be message')
  const message: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(value)) {
    if (given !== null && name !== 'kind') message[name] = given
  }
  const { role, parts } = message
  // An unknown role is passed to the schema, which rejects it. The names of 1.0 are unknown in 0.3.
  message['role'] = typeof role === 'string' ? (roles[role] ?? `unknown role ${role}`) : role
  if (Array.isArray(parts)) message['parts'] = parts.map(readPart03)
  return check(messageInput, message, 'message')
}

const kinds: ReadonlySet<unknown> = new Set(['text', 'data', 'file'])

/**
 * The kind of a part. Before 0.2.1 `kind` was called `type`. If both are missing, the members of
 * the part decide.
 */
function kindOf(part: Params, path: string): unknown {
  const name = part['kind'] === undefined || part['kind'] === null ? 'type' : 'kind'
  const given = part[name] ?? undefined
  if (given === undefined) return ['text', 'data', 'file'].find((kind) => kind in part)
  if (kinds.has(given)) return given
  throw invalid(`${path}.${name}`, 'must be text, data or file')
}

function readPart03(value: unknown, index: number): unknown {
  if (!isObject(value)) return value
  const path = `message.parts.${index}`
  const kind = kindOf(value, path)
  const { text, data, file, metadata } = value
  const facts = metadata === undefined || metadata === null ? {} : { metadata }
  if (kind === 'text' && text !== undefined) return { text, ...facts }
  if (kind === 'data' && data !== undefined) return { data, ...facts }
  if (kind !== 'file' || !isObject(file)) {
    throw invalid(path, 'must be a part with text, data or file, as its kind says')
  }
  const { bytes, uri } = file
  const filename = optionalText(file, 'name', `${path}.file.name`)
  const mediaType = optionalText(file, 'mimeType', `${path}.file.mimeType`)
  return {
    ...(bytes === undefined || bytes === null ? {} : { raw: bytes }),
    ...(uri === undefined || uri === null ? {} : { url: uri }),
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
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

/** Makes data an object, as 0.3 requires. In 1.0 it can be any value. */
export function objectOf(data: unknown): JsonObject {
  return isObject(data) ? (data as JsonObject) : ({ value: data } as JsonObject)
}
