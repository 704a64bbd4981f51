/** Makes values from a schema, and spoils them. For tests only. */
import fc from 'fast-check'
import { z } from 'zod'
import { isPlainObject } from '../../../core/values/json.ts'
import { hostile, hostileWords, type Path, placesIn, withValue } from './hostile-values.ts'

type Values = fc.Arbitrary<unknown>
type Schema = Readonly<Record<string, unknown>>

const DEPTH = 5

/** Names that a door replaces by ids of its server (`doors.ts`). */
export const names: readonly string[] = ['$own', '$asking', '$victim', '$handle', '$context']

const idMembers: ReadonlyMap<string, string> = new Map([
  ['taskId', '$own'],
  ['id', '$own'],
  ['sessionId', '$session'],
  ['handle', '$handle'],
  ['contextId', '$context'],
])

const words: fc.Arbitrary<string> = fc.constantFrom(
  ...names,
  ...['$own', 'x', 'go', 'ask', 'park', 'agent:none', 'ci.done', 'parent', 'default', '* * * * *'],
  ...['2026-01-01T00:00:00Z', 'aGk=', 'https://a.example', 'text/plain'],
)

/** Values as the schema describes them. Rules that JSON Schema cannot express may refuse them. */
export function valuesOf(schema: z.ZodType): Values {
  const root: Schema = { ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) }
  return valuesIn(root, root, DEPTH)
}

function valuesIn(given: unknown, root: Schema, depth: number): Values {
  const schema = isPlainObject(given) ? resolved(given, root) : {}
  const below = (one: unknown): Values => valuesIn(one, root, depth - 1)
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  if (depth === 0) return fc.constant(null)
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options)) return fc.oneof(...options.map(below))
  const parts = schema['allOf']
  if (Array.isArray(parts)) return fc.tuple(...parts.map(below)).map(merged)
  return byType(schema, below)
}

function resolved(schema: object, root: Schema): Schema {
  const { $ref, ...rest } = schema as Schema
  if (typeof $ref !== 'string') return rest
  const steps = $ref.split('/').slice(1)
  const found = steps.reduce<unknown>(
    (at, step) => (isPlainObject(at) ? Reflect.get(at, step) : undefined),
    root,
  )
  return isPlainObject(found) ? { ...found } : {}
}

function byType(schema: Schema, below: (one: unknown) => Values): Values {
  const { minimum, maximum } = schema
  const [min, max] = [Number(minimum ?? 0), Math.min(Number(maximum ?? 1e6), 1e15)]
  switch (schema['type']) {
    case 'object':
      return objects(schema, below)
    case 'array': {
      const { prefixItems } = schema
      if (Array.isArray(prefixItems)) return fc.tuple(...prefixItems.map(below))
      return fc.array(below(schema['items']), { maxLength: 3 })
    }
    case 'integer':
      return fc.integer({ min: Math.ceil(min), max: Math.max(Math.ceil(min), Math.floor(max)) })
    case 'number':
      return fc.double({ min, max: Math.max(min, max), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return words
    default:
      return fc.oneof(words, fc.jsonValue({ maxDepth: 2 }))
  }
}

function objects(schema: Schema, below: (one: unknown) => Values): Values {
  const members = isPlainObject(schema['properties']) ? Object.entries(schema['properties']) : []
  if (members.length === 0) {
    const { additionalProperties: others } = schema
    return isPlainObject(others)
      ? fc.dictionary(words, below(others), { maxKeys: 3 })
      : fc.constant({})
  }
  const { required } = schema
  const requiredKeys = Array.isArray(required) ? required.map(String) : []
  const named = members.map(([name, member]): [string, Values] => [name, idOr(name, below(member))])
  return fc.record(Object.fromEntries(named), { requiredKeys })
}

/** Members that hold an id mostly name something that exists, so that a request gets past the first check. */
function idOr(member: string, values: Values): Values {
  const name = idMembers.get(member)
  return name === undefined
    ? values
    : fc.oneof({ weight: 4, arbitrary: fc.constant(name) }, { weight: 1, arbitrary: values })
}

const merged = (parts: readonly unknown[]): unknown => Object.assign({}, ...parts)

type Change = readonly [at: number, kind: 'replace' | 'remove' | 'add', value: unknown]

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.tuple(
    fc.nat(),
    fc.constantFrom('replace', 'remove', 'add'),
    fc.constantFrom(...hostile, ...hostileWords),
  ),
  { minLength: 1, maxLength: 2 },
)

/** Most values with one or two changes: hostile, missing, or one member more. */
export function spoilt(values: Values): Values {
  const none = fc.constant<readonly Change[]>([])
  const some = fc.oneof({ weight: 2, arbitrary: none }, { weight: 3, arbitrary: changes })
  return fc.tuple(values, some).map(([value, made]) => made.reduce(change, value))
}

function change(value: unknown, [at, kind, hostileValue]: Change): unknown {
  const places: readonly Path[] = [[], ...placesIn(value)]
  const place = places[at % places.length] ?? []
  if (kind === 'replace') return withValue(value, place, hostileValue)
  if (kind === 'add') return withValue(value, [...place.slice(0, -1), '__proto__'], hostileValue)
  return place.length === 0 ? {} : withValue(value, place, undefined)
}
