/**
 * Counts what a binary message contains before it is parsed, with the limits of JSON bodies (http/strict-json.ts): a few
 * megabytes of binary could otherwise hold millions of values, or nest so deeply that a recursion overflows.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

const DEPTH = 64
const VALUES = 100_000
/** Different keys of maps. Each becomes the name of a member of an object. */
const NAMES = 10_000

/** A value of JSON. The object or list in it is the level. */
const VALUE = 'google.protobuf.Value'

interface Count {
  values: number
  readonly names: Set<string>
}

/** @returns why the message is refused, or undefined */
export function problemOfMessage(desc: DescMessage, bytes: Uint8Array): string | undefined {
  const count: Count = { values: 0, names: new Set() }
  try {
    return problemIn(desc, new BinaryReader(bytes), bytes.length, 0, count)
  } catch {
    return 'The message is not valid protobuf'
  }
}

const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>()

function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldsByNumber.get(desc)
  if (known !== undefined) return known
  const made = new Map(desc.fields.map((field) => [field.number, field]))
  fieldsByNumber.set(desc, made)
  return made
}

function problemIn(
  desc: DescMessage,
  reader: BinaryReader,
  end: number,
  level: number,
  count: Count,
): string | undefined {
  if (level > DEPTH) return `The message is nested more than ${DEPTH} deep`
  const fields = fieldsOf(desc)
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (++count.values > VALUES) return `The message has more than ${VALUES} values`
    const field = fields.get(number)
    if (wireType !== WireType.LengthDelimited || field === undefined) {
      reader.skip(wireType, number)
      continue
    }
    const problem =
      field.fieldKind === 'map'
        ? problemInEntry(field, reader, level, count)
        : problemInField(field, reader, level, count)
    if (problem !== undefined) return problem
  }
  return reader.pos === end ? undefined : 'The message is not valid protobuf'
}

function problemInField(
  field: DescField,
  reader: BinaryReader,
  level: number,
  count: Count,
): string | undefined {
  const { message } = field
  if (message === undefined) {
    reader.skip(WireType.LengthDelimited, field.number)
    return undefined
  }
  const length = reader.uint32()
  return problemIn(message, reader, reader.pos + length, below(level, message), count)
}

function problemInEntry(
  field: DescField & { readonly fieldKind: 'map' },
  reader: BinaryReader,
  level: number,
  count: Count,
): string | undefined {
  const length = reader.uint32()
  const end = reader.pos + length
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.LengthDelimited) {
      const name = reader.string()
      // Assigned to an object, it would replace the prototype.
      if (name === '__proto__') return 'The name __proto__ is not accepted'
      count.names.add(name)
      if (count.names.size > NAMES) return `The message has more than ${NAMES} different names`
    } else if (number === 2 && wireType === WireType.LengthDelimited && field.message) {
      const size = reader.uint32()
      const inner = below(level, field.message)
      const problem = problemIn(field.message, reader, reader.pos + size, inner, count)
      if (problem !== undefined) return problem
    } else reader.skip(wireType, number)
  }
  return reader.pos === end ? undefined : 'The message is not valid protobuf'
}

function below(level: number, { typeName }: DescMessage): number {
  return typeName === VALUE ? level : level + 1
}
