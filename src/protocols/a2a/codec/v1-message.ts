/**
 * Reads messages of A2A 1.0. As in any ProtoJSON reader (§5.7), unknown members are dropped, and
 * `null` or `""` means absent.
 */
import type { Message, Part, PartDetails } from '../../../core/messages/message.ts'
import { message as messageInput } from '../../../engine/input/inputs.ts'
import { check } from '../../../engine/input/parse.ts'
import { invalid, isObject, type Params } from '../addresses/params.ts'

type IsAbsent = (member: unknown) => boolean
type Members = readonly (readonly [name: string, isAbsent: IsAbsent])[]

/** A part has exactly one of these members. */
type Content = Part extends infer P
  ? P extends Part
    ? Exclude<keyof P, keyof PartDetails>
    : never
  : never

const isNull: IsAbsent = (member) => member === null
const isNullOrEmpty: IsAbsent = (member) => member === null || member === ''

const messageMembers: Members = Object.entries({
  messageId: isNull,
  role: isNullOrEmpty,
  parts: isNullOrEmpty,
  contextId: isNullOrEmpty,
  taskId: isNullOrEmpty,
  referenceTaskIds: isNullOrEmpty,
  extensions: isNullOrEmpty,
  metadata: isNullOrEmpty,
} satisfies Record<keyof Message, IsAbsent>)

const partContents: Members = Object.entries({
  text: isNull,
  // `null` is a value of `data`, so it does not mean absent.
  data: () => false,
  raw: isNull,
  url: isNull,
} satisfies Record<Content, IsAbsent>)

const partMembers: Members = [
  ...partContents,
  ...Object.entries({
    mediaType: isNull,
    filename: isNull,
    metadata: isNull,
  } satisfies Record<keyof PartDetails, IsAbsent>),
]

export function readMessage1(value: unknown): Message {
  if (!isObject(value)) return check(messageInput, value, 'message')
  const message = pick(value, messageMembers)
  const { parts } = message
  if (Array.isArray(parts)) message['parts'] = parts.map(readPart)
  return check(messageInput, message, 'message')
}

function readPart(value: unknown, index: number): unknown {
  if (!isObject(value)) return value
  const part = pick(value, partMembers)
  // Checked here, because the error of a schema with four alternatives would name the wrong member.
  if (partContents.filter(([name]) => name in part).length !== 1) {
    throw invalid(
      `message.parts.${index}`,
      'must have exactly one of text, data, raw (base64) or url',
    )
  }
  return part
}

/** Copies the known members that are present. */
function pick(value: Params, members: Members): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const [name, isAbsent] of members) {
    const member = value[name]
    if (member !== undefined && !isAbsent(member)) picked[name] = member
  }
  return picked
}
