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
    ['spa', 'boolean', false],
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
  const filled = formOf({ city: 'Oslo', nights: '3', price: '', spa: 'on', room: '2', view: '' })
  expect(valueIn(fields, filled)).toEqual({ city: 'Oslo', nights: 3, spa: true, room: 3 })
  expect(valueIn(fields, formOf({ city: '' }))).toEqual({ city: '', spa: false })
})

it.each([
  [{ type: 'string' }, { value: 'red' }, 'red'],
  [{ type: 'number' }, { value: '1.5' }, 1.5],
  [{ type: 'boolean' }, {}, false],
  [{ enum: ['a', 'b'] }, { value: '1' }, 'b'],
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
])('asks for JSON where no form fits: %j', (schema) => {
  expect(fieldsOf(schema)).toBeUndefined()
})
