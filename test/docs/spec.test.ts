/** The pages about our protocol extensions: every example is valid, and every published shape has one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { root } from './documents.ts'

const spec = join(root, 'spec')

function filesIn(folder: string, ending: string): readonly string[] {
  return readdirSync(join(spec, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
}

interface Schema {
  readonly $id: string
  readonly $defs: Readonly<Record<string, object>>
}

const read = (...path: readonly string[]): string => readFileSync(join(spec, ...path), 'utf8')

/** `a2a/task-control` and so on. */
const names = filesIn('protocol-artifacts', '.schema.json').map((file) =>
  file.replace('.schema.json', ''),
)
const schemas = new Map(
  names.map((name) => {
    const schema: Schema = JSON.parse(read('protocol-artifacts', `${name}.schema.json`))
    return [name, schema] as const
  }),
)

// Instants have a pattern besides their format.
const ajv = new Ajv2020({ validateFormats: false, strict: true, strictTypes: false })
for (const schema of schemas.values()) ajv.addSchema(schema)

const manifest: Record<string, readonly { readonly name: string; readonly shapes: string[] }[]> =
  JSON.parse(read('protocol-artifacts', 'manifest.json'))

function examplesIn(page: string): readonly (readonly [shape: string, text: string])[] {
  const blocks = page.matchAll(/^```json (\w+)\n(.*?)^```$/gms)
  return [...blocks].map(([, shape = '', text = '']) => [shape, text] as const)
}

describe.each(names)('%s', (name) => {
  const page = read(`${name}.md`)
  const schema = schemas.get(name)
  const examples = examplesIn(page)

  it.each(examples.map(([shape, text], index) => [index + 1, shape, text] as const))(
    'example %i is a %s',
    (_, shape, text) => {
      const validate = ajv.getSchema(`${schema?.$id}#/$defs/${shape}`)
      expect(validate, shape).toBeDefined()
      validate?.(JSON.parse(text))
      expect(validate?.errors ?? []).toEqual([])
    },
  )

  it('shows every shape that it publishes', () => {
    const [protocol = '', file] = name.split('/')
    const shapes = manifest[protocol]?.find((one) => one.name === file)?.shapes ?? []
    expect(shapes.length).toBeGreaterThan(0)
    expect(examples.map(([shape]) => shape)).toEqual(expect.arrayContaining(shapes))
  })

  it('is listed in the index', () => {
    expect(read('README.md')).toContain(`](${name}.md)`)
  })
})

it('has no link that leads nowhere', () => {
  for (const page of ['README.md', ...names.map((name) => `${name}.md`)]) {
    const folder = join(spec, page, '..')
    for (const [, to = ''] of read(page).matchAll(/\]\((?!http)([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(() => readFileSync(join(folder, to)), `${page} → ${to}`).not.toThrow(/ENOENT/)
    }
  }
})

it.each([
  ['a2a/task-control', 'PauseRequest', { taskId: 't', mode: 'gently' }],
  ['a2a/task-control', 'PauseRequest', { taskId: 't', surprise: 1 }],
  ['a2a/task-control', 'PauseRequest', { taskId: 't', graceMs: 60_001 }],
  ['a2a/task-control', 'ResumeConditions', { timeout: { durationMinutes: 0 } }],
  ['a2a/task-control', 'ResumeConditions', { onEvent: ' ' }],
  ['a2a/task-control', 'ResumeConditions', { trigger: { filter: { exact: {} } } }],
  ['a2a/task-control', 'ResumeConditions', { trigger: { at: 'tomorrow' } }],
  ['a2a/reminders', 'InjectReminderRequest', { taskId: 't', reminder: { body: '  ' } }],
  ['a2a/reminders', 'InjectReminderRequest', { taskId: 't', reminder: { body: 'b', ttlTurns: 0 } }],
  ['a2a/user-consent', 'ConsentAnswer', { consentId: 'c', decision: 'maybe' }],
  ['events/cloud-events', 'CloudEvent', { id: '1', source: 's', type: 't', a: { b: 1 } }],
])('%s: refuses a %s like %j, as the server does', (name, shape, value) => {
  const validate = ajv.getSchema(`${schemas.get(name)?.$id}#/$defs/${shape}`)
  expect(validate?.(value)).toBe(false)
})
