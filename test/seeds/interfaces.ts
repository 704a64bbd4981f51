/** The interfaces of a seed document, read from `fixtures/`, and whether a message is one of them, field by field. */
import { readFileSync } from 'node:fs'

interface Field {
  readonly name: string
  readonly optional: boolean
  readonly type: string
}

export interface Interfaces {
  readonly names: readonly string[]
  fields(name: string): readonly Field[]
  /** What keeps the value from being one, in words; `more` names the fields it may have beyond the document's. */
  problems(name: string, value: unknown, more?: readonly string[]): readonly string[]
}

export function interfacesOf(file: string): Interfaces {
  const text = readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')
  const found = new Map<string, readonly Field[]>()
  for (const [, name = '', body = ''] of text.matchAll(
    /^export interface (\w+) \{\n([\s\S]*?)^\}/gm,
  )) {
    found.set(name, fieldsIn(body))
  }

  function fields(name: string): readonly Field[] {
    const known = found.get(name)
    if (known === undefined) throw new Error(`${file} has no interface ${name}`)
    return known
  }

  function problems(name: string, value: unknown, more: readonly string[] = []): readonly string[] {
    if (typeof value !== 'object' || value === null) return [`${name}: is no object`]
    const given = value as Readonly<Record<string, unknown>>
    const missing = fields(name)
      .filter((field) => !field.optional && given[field.name] === undefined)
      .map((field) => `${name}.${field.name}: is missing`)
    const wrong = fields(name).flatMap((field) =>
      given[field.name] === undefined
        ? []
        : typeProblems(`${name}.${field.name}`, field.type, given[field.name]),
    )
    const names = new Set([...fields(name).map((field) => field.name), ...more])
    const unknown = Object.keys(given)
      .filter((key) => !names.has(key))
      .map((key) => `${name}.${key}: is not in the document`)
    return [...missing, ...wrong, ...unknown]
  }

  function typeProblems(at: string, type: string, value: unknown): readonly string[] {
    if (found.has(type)) return problems(type, value)
    return isOf(type, value) ? [] : [`${at}: is no ${type}`]
  }

  return { names: [...found.keys()], fields, problems }
}

function fieldsIn(body: string): readonly Field[] {
  const bare = body.replace(/\/\*\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
  return [...bare.matchAll(/^ {2}(\w+)(\??): (.+)$/gm)].map(([, name = '', mark, type = '']) => ({
    name,
    optional: mark === '?',
    type: type.trim().replaceAll('\\"', '"'),
  }))
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'unknown') return true
  if (type === 'SessionId') return typeof value === 'string'
  if (type === 'string' || type === 'number' || type === 'boolean') return typeof value === type
  if (type.startsWith('Record<')) return typeof value === 'object' && value !== null
  const list = /^\((.*)\)\[\]$/.exec(type)?.[1]
  if (list !== undefined) return Array.isArray(value) && value.every((one) => isOf(list, one))
  return type.split(' | ').includes(JSON.stringify(value))
}
