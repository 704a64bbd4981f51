import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { openApi } from './openapi.ts'
import { opsRoutes, opsStreams } from './routes.ts'

const document = JSON.parse(JSON.stringify(openApi(opsRoutes, opsStreams)))

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string }[]
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(
    ([method, operation]) => [`${method} ${path}`, path, method, operation] as const,
  ),
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(document, 'openapi')

/** Compiles the schema at a place of the document, with every reference in it. */
function validatorAt(...place: readonly string[]) {
  const pointer = place.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  return ajv.compile({ $ref: `openapi#/${encodeURI(pointer)}` })
}

const bodyOf = (path: string) =>
  validatorAt('paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema')

describe('the OpenAPI document', () => {
  it('has no reference that leads nowhere', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)]
    expect(refs.length).toBeGreaterThan(0)
    for (const [, pointer = ''] of refs) {
      const found = pointer.split('/').reduce((here, name) => here?.[name], document)
      expect(found, pointer).toBeDefined()
    }
  })

  it('names every operation, each by a name of its own', () => {
    const ids = operations.map(([, , , { operationId }]) => operationId)
    expect(ids).not.toContain(undefined)
    expect(new Set(ids).size).toBe(ids.length)
    expect(document.servers).toEqual([{ url: '/' }])
  })

  it.each(operations)('%s: every schema compiles', (_, path, method, operation) => {
    for (const [index] of (operation.parameters ?? []).entries()) {
      validatorAt('paths', path, method, 'parameters', String(index), 'schema')
    }
    const { responses, requestBody } = document.paths[path][method]
    const places = [
      ...Object.keys(responses).flatMap((status) =>
        Object.keys(responses[status].content).map((type) => [
          ...['responses', status, 'content', type, 'schema'],
        ]),
      ),
      ...(requestBody === undefined
        ? []
        : [['requestBody', 'content', 'application/json', 'schema']]),
    ]
    for (const place of places) validatorAt('paths', path, method, ...place)
  })

  it('allows and forbids what the server does', () => {
    const rule = bodyOf('/ops/rules')
    const deep = { not: { all: [{ exact: { type: 'x' } }] } }
    const rest = { scope: { all: true }, reason: 'r' }
    expect(rule({ ...rest, filter: deep })).toBe(true)
    expect(rule({ ...rest, filter: { not: { exact: {} } } })).toBe(false)
    expect(rule(rest)).toBe(false)
    expect(rule({ ...rest, filter: deep, onEvent: 'x' })).toBe(false)

    const budget = bodyOf('/ops/budgets')
    const dollars = { scope: { all: true }, measure: 'costUsd', limit: 1_000_000 }
    expect(budget(dollars)).toBe(true)
    expect(budget({ ...dollars, limit: 1_000_001 })).toBe(false)
    expect(budget({ ...dollars, measure: 'tokens', limit: 1_000_001 })).toBe(true)
    expect(bodyOf('/ops/budgets/{id}/refill')({ amount: -1 })).toBe(false)

    const agent = document.paths['/ops/tasks'].get.parameters.find(
      ({ name }: { readonly name: string }) => name === 'agent',
    )
    expect(agent.schema).toEqual({ type: 'string', minLength: 1, maxLength: 256 })
  })

  it('says what the events of a stream contain', () => {
    const events = validatorAt(
      ...['paths', '/ops/changes', 'get', 'responses', '200', 'content', 'text/event-stream'],
      'schema',
    )
    expect(events([{ id: '1', data: '{}' }])).toBe(true)
    expect(events('id: 1')).toBe(false)
  })
})
