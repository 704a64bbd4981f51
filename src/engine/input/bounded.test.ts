/** Every list and text that a caller can send has a limit, and a list is measured before its items are looked at. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verbs } from '../requests/verbs.ts'
import * as inputs from './inputs.ts'
import { parse } from './parse.ts'

/** What agents hand in themselves. The process trusts its own code. */
const ofAgents = new Set<string>([
  'artifactFacts',
  'askOptionsInput',
  'consentInput',
  'stepOptionsInput',
  'transcriptEntriesInput',
  'transcriptInput',
  'usageInput',
])

/** Content. The size of the request bounds it. */
const content = /\.(?:text|url|raw|data_base64)$|(?:metadata|jsonObject)\.<name>$/

interface Found {
  readonly path: string
  readonly problem: string
}

interface Definition {
  readonly type: string
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly check: string } } }[]
  readonly [member: string]: unknown
}

/** The lists and texts of a schema that have no limit. */
function unbounded(
  schema: z.ZodType,
  path: string,
  measured: boolean,
  seen: Set<unknown>,
): Found[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const definition = schema._zod.def as unknown as Definition
  const { type } = definition
  const checks = (definition.checks ?? []).map(({ _zod }) => _zod.def.check)
  const inner = (one: unknown, name = '', isMeasured = false): Found[] =>
    unbounded(one as z.ZodType, name === '' ? path : `${path}.${name}`, isMeasured, seen)
  const under: Readonly<Record<string, () => Found[]>> = {
    string: () => (isShort(schema, checks) ? [] : [{ path, problem: 'text without a limit' }]),
    array: () => [
      ...(measured && checks.includes('max_length')
        ? []
        : [{ path, problem: 'list not measured' }]),
      ...inner(definition['element'], '<item>'),
    ],
    object: () => [
      ...Object.entries(definition['shape'] as object).flatMap(([name, one]) => inner(one, name)),
      ...(definition['catchall'] === undefined ? [] : inner(definition['catchall'], '<more>')),
    ],
    record: () => [
      ...inner(definition['keyType'], '<name>'),
      ...inner(definition['valueType'], '<member>'),
    ],
    union: () => (definition['options'] as unknown[]).flatMap((one) => inner(one)),
    pipe: () => inner(definition['out'], '', true),
    lazy: () => inner((definition['getter'] as () => unknown)()),
    optional: () => inner(definition['innerType'], '', measured),
    nullable: () => inner(definition['innerType'], '', measured),
  }
  return under[type]?.() ?? []
}

/** A pattern such as an instant bounds its length itself. */
function isShort(schema: z.ZodType, checks: readonly string[]): boolean {
  const { format } = schema._zod.def as { readonly format?: string }
  return checks.includes('max_length') || format === 'datetime' || hasBoundedPattern(schema)
}

function hasBoundedPattern(schema: z.ZodType): boolean {
  return !schema.safeParse('a'.repeat(100_000)).success
}

describe('inputs of callers', () => {
  const ofVerbs = Object.entries(verbs).map(([name, { input }]) => [name, input] as const)
  const schemas = [...Object.entries(inputs), ...ofVerbs].filter(
    ([name, one]) => one instanceof z.ZodType && !ofAgents.has(name),
  )

  it.each(schemas)('%s has a limit for every list and text but content', (name, schema) => {
    const found = unbounded(schema as z.ZodType, name, false, new Set())
    expect(found.filter(({ path }) => !content.test(path))).toEqual([])
  })
})

describe('a hostile document', () => {
  const message = { messageId: 'a', role: 'ROLE_USER', parts: [{ text: '' }] }
  const many = <T>(one: T, count = 90_000): T[] => Array.from({ length: count }, () => one)

  it.each<[string, z.ZodType, unknown, string]>([
    ['extensions', inputs.message, { ...message, extensions: many(1) }, 'extensions'],
    ['parts', inputs.message, { ...message, parts: many({}) }, 'parts'],
    ['reminders', verbs.send.input, { message, reminders: many({}) }, 'reminders'],
    [
      'filters',
      inputs.resumeConditions,
      { trigger: { filter: { all: many({}) } } },
      'trigger.filter',
    ],
    ['attributes', inputs.cloudEvent, Object.fromEntries(many(0).map((_, i) => [`A${i}`, {}])), ''],
  ])('with very many %s is refused without visiting them', (_, schema, value, path) => {
    const began = process.cpuUsage()
    expect(() => parse(schema, value)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ path }) }),
    )
    // Visiting each member takes a second or more.
    expect(process.cpuUsage(began).user).toBeLessThan(400_000)
  })

  it('with a deep filter is refused', () => {
    let filter: object = { exact: { type: 'a' } }
    for (let depth = 0; depth < 300; depth++) filter = { not: filter }
    expect(() => parse(inputs.resumeConditions, { trigger: { filter } })).toThrow('at any depth')
  })
})
