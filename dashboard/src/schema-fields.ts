/** The fields of a form from a JSON Schema, and the value from the form that a person filled in. */

export interface Field {
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

/** Undefined: the schema has parts that no form is made for, so that JSON must be typed. */
export function fieldsOf(schema: unknown): FieldSet | undefined {
  if (!isObject(schema)) return undefined
  if (schema['type'] !== 'object') {
    const field = fieldOf('value', schema, true)
    return field && { shape: 'value', fields: [{ ...field, label: labelOf('Answer', schema) }] }
  }
  const { properties } = schema
  if (!isObject(properties) || isObject(schema['additionalProperties'])) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const fields = Object.entries(properties).map(([name, member]) =>
    isObject(member) ? fieldOf(name, member, required.includes(name)) : undefined,
  )
  const known = fields.filter((field) => field !== undefined)
  return known.length === fields.length ? { shape: 'object', fields: known } : undefined
}

function fieldOf(name: string, schema: Schema, required: boolean): Field | undefined {
  const { description, default: initial } = schema
  const about = typeof description === 'string' ? description : undefined
  const facts = { name, label: labelOf(name, schema), about, required, initial }
  const options = optionsOf(schema)
  if (options !== undefined) return { ...facts, kind: 'choice', options }
  const kind = kindOf(schema)
  return kind && { ...facts, kind, options: [] }
}

function optionsOf({
  enum: values,
  const: only,
  oneOf,
  anyOf,
}: Schema): Field['options'] | undefined {
  if (Array.isArray(values)) return values.map((value) => ({ value, label: String(value) }))
  if (only !== undefined) return [{ value: only, label: String(only) }]
  const either = oneOf ?? anyOf
  if (!Array.isArray(either)) return undefined
  const options = either.flatMap((one) =>
    isObject(one) && one['const'] !== undefined
      ? [{ value: one['const'], label: labelOf(String(one['const']), one) }]
      : [],
  )
  return options.length === either.length ? options : undefined
}

function kindOf({ type, format }: Schema): Field['kind'] | undefined {
  if (type === 'string') return format === 'date' || format === 'date-time' ? format : 'text'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : undefined
}

function labelOf(name: string, { title }: Schema): string {
  return typeof title === 'string' && title !== '' ? title : name
}

export function valueIn({ shape, fields }: FieldSet, form: FormData): unknown {
  const members = fields.flatMap((field) => {
    const value = fieldValue(field, form.get(field.name))
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
