/** The fields of a form from a JSON Schema, and the value from the form that a person filled in. */

export interface Field {
  /** The name of its input. A name from the schema could hide a member of the form element. */
  readonly input: string
  readonly name: string
  readonly label: string
  readonly about?: string | undefined
  readonly required: boolean
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'date' | 'date-time'
  /** Of a choice. */
  readonly options: readonly { readonly value: unknown; readonly label: string }[]
  readonly initial?: unknown
}

/** `object`: the fields are its members. `value`: the one field is the value itself. */
export interface FieldSet {
  readonly shape: 'object' | 'value'
  readonly fields: readonly Field[]
}

type Schema = Readonly<Record<string, unknown>>

/** Above these, JSON is asked for. */
const MOST_FIELDS = 50
const MOST_OPTIONS = 200

/** Undefined: the schema has parts that no form is made for, so that JSON must be typed. */
export function fieldsOf(schema: unknown): FieldSet | undefined {
  if (!isObject(schema)) return undefined
  if (schema['type'] !== 'object') {
    const field = fieldOf('value', schema, true, 0)
    return field && { shape: 'value', fields: [{ ...field, label: labelOf('Answer', schema) }] }
  }
  const { properties } = schema
  if (!isObject(properties) || isObject(schema['additionalProperties'])) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const members = Object.entries(properties)
  if (members.length > MOST_FIELDS) return undefined
  const fields = members.map(([name, member], index) =>
    isObject(member) ? fieldOf(name, member, required.includes(name), index) : undefined,
  )
  const known = fields.filter((field) => field !== undefined)
  return known.length === fields.length ? { shape: 'object', fields: known } : undefined
}

function fieldOf(
  name: string,
  schema: Schema,
  required: boolean,
  index: number,
): Field | undefined {
  const { description, default: initial } = schema
  const about = typeof description === 'string' ? description : undefined
  const facts = { input: `f${index}`, name, label: labelOf(name, schema), about, required, initial }
  const options = optionsOf(schema)
  if (options !== undefined) {
    return options.length > MOST_OPTIONS ? undefined : { ...facts, kind: 'choice', options }
  }
  const kind = kindOf(schema)
  // A box that was not touched would say no.
  if (kind === 'boolean' && !required) return { ...facts, kind: 'choice', options: yesOrNo }
  return kind && { ...facts, kind, options: [] }
}

const yesOrNo: Field['options'] = [
  { value: true, label: 'yes' },
  { value: false, label: 'no' },
]

function optionsOf({
  enum: values,
  const: only,
  oneOf,
  anyOf,
}: Schema): Field['options'] | undefined {
  if (Array.isArray(values)) return values.map((value) => ({ value, label: textOf(value) }))
  if (only !== undefined) return [{ value: only, label: textOf(only) }]
  const either = oneOf ?? anyOf
  if (!Array.isArray(either)) return undefined
  const options = either.flatMap((one) =>
    isObject(one) && one['const'] !== undefined
      ? [{ value: one['const'], label: labelOf(textOf(one['const']), one) }]
      : [],
  )
  return options.length === either.length ? options : undefined
}

function kindOf({ type, format }: Schema): Field['kind'] | undefined {
  if (type === 'string') return format === 'date' || format === 'date-time' ? format : 'text'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function labelOf(name: string, { title }: Schema): string {
  return typeof title === 'string' && title !== '' ? title : name
}

export function valueIn({ shape, fields }: FieldSet, form: FormData): unknown {
  const members = fields.flatMap((field) => {
    const value = fieldValue(field, form.get(field.input))
    return value === undefined ? [] : [[field.name, value] as const]
  })
  return shape === 'value' ? members[0]?.[1] : Object.fromEntries(members)
}

/** Undefined: nothing was typed. */
function fieldValue({ kind, options, required }: Field, given: unknown): unknown {
  if (kind === 'boolean') return given === 'on'
  const text = typeof given === 'string' ? given : ''
  if (kind === 'choice') return options[Number(text === '' ? -1 : text)]?.value
  if (text === '') return kind === 'text' && required ? '' : undefined
  if (kind === 'number' || kind === 'integer') return Number(text)
  // The browser gives local time without a zone.
  return kind === 'date-time' ? new Date(text).toISOString() : text
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
