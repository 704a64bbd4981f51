import { expect, it } from 'vitest'
import { fieldsOf, valueIn } from './schema-fields.ts'

const order = {
  type: 'object',
  required: ['city', 'nights'],
  properties: {
    city: { type: 'string', title: 'Where to' },
    nights: { type: 'integer', default: 2, description: 'at most 9' },
    price: { type: 'number' },
    spa: { type: 'boolean' },
    room: { enum: ['single', 'double', 3] },
    view: { oneOf: [{ const: 'sea', title: 'To the sea' }, { const: 'yard' }] },
    from: { type: 'string', format: 'date' },
  },
}

function formOf(values: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(values)) form.set(name, value)
  return form
}

it('makes a field of each member, with its kind, label and choices', () => {
  const fields = fieldsOf(order)?.fields ?? []
  expect(fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
    ['city', 'text', true],
    ['nights', 'integer', true],
    ['price', 'number', false],
    ['spa', 'choice', false],
    ['room', 'choice', false],
    ['view', 'choice', false],
    ['from', 'date', false],
  ])
  expect(fields.map(({ label }) => label).slice(0, 2)).toEqual(['Where to', 'nights'])
  expect(fields[5]?.options).toEqual([
    { value: 'sea', label: 'To the sea' },
    { value: 'yard', label: 'yard' },
  ])
})

it('reads values with their types, and leaves out what was not filled in', () => {
  const fields = fieldsOf(order)
  if (fields === undefined) throw new Error('a form was expected')
  const filled = formOf({ f0: 'Oslo', f1: '3', f2: '', f3: '0', f4: '2', f5: '' })
  expect(valueIn(fields, filled)).toEqual({ city: 'Oslo', nights: 3, spa: true, room: 3 })
  expect(valueIn(fields, formOf({ f0: '' }))).toEqual({ city: '' })
})

it.each([
  [{ type: 'string' }, { f0: 'red' }, 'red'],
  [{ type: 'number' }, { f0: '1.5' }, 1.5],
  [{ type: 'boolean' }, {}, false],
  [{ enum: ['a', 'b'] }, { f0: '1' }, 'b'],
])('makes one field of %j', (schema, given, value) => {
  const fields = fieldsOf(schema)
  if (fields === undefined) throw new Error('a form was expected')
  expect([fields.shape, valueIn(fields, formOf(given))]).toEqual(['value', value])
})

it.each([
  undefined,
  true,
  {},
  { type: 'array', items: { type: 'string' } },
  { type: 'object' },
  { type: 'object', properties: { deep: { type: 'object', properties: {} } } },
  {
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: { type: 'string' },
  },
  { anyOf: [{ type: 'string' }, { type: 'number' }] },
  { enum: Array.from({ length: 201 }, (_, index) => index) },
])('asks for JSON where no form fits: %j', (schema) => {
  expect(fieldsOf(schema)).toBeUndefined()
})

it('asks for JSON in place of more than 50 fields', () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, { type: 'string' }]))
  expect(fieldsOf({ type: 'object', properties: members(50) })).toBeDefined()
  expect(fieldsOf({ type: 'object', properties: members(51) })).toBeUndefined()
})

it('labels choices that are no texts, also such that cannot be converted to one', () => {
  const odd = { toString: 1, valueOf: 1 }
  const labels = (schema: unknown) => fieldsOf(schema)?.fields[0]?.options.map((one) => one.label)
  expect(labels({ enum: [odd, { a: 1 }, null] })).toEqual([
    '{"toString":1,"valueOf":1}',
    '{"a":1}',
    'null',
  ])
  expect(labels({ const: odd })).toEqual(['{"toString":1,"valueOf":1}'])
  expect(labels({ oneOf: [{ const: odd }] })).toEqual(['{"toString":1,"valueOf":1}'])
})

it('gives no input a name of the schema, which could hide a member of the form element', () => {
  const properties = { insertBefore: { type: 'string' }, childNodes: { type: 'string' } }
  const fields = fieldsOf({ type: 'object', properties })?.fields ?? []
  expect(fields.map(({ input }) => input)).toEqual(['f0', 'f1'])
})

it('leaves out an optional yes or no that was not chosen', () => {
  const spa = { type: 'object', properties: { spa: { type: 'boolean' } } }
  const fields = fieldsOf(spa)
  if (fields === undefined) throw new Error('a form was expected')
  expect(valueIn(fields, formOf({ f0: '' }))).toEqual({})
  expect(valueIn(fields, formOf({ f0: '1' }))).toEqual({ spa: false })
})
