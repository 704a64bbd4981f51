/**
 * The JSON Schemas of our protocol extensions, in spec/protocol-artifacts, from the schemas the server parses and is tested
 * with. `--check` writes nothing and fails when the files are not what it would write. Works on `dist`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { cloudEvent, json } from '../dist/engine/input/inputs.js'
import { faults } from '../dist/protocols/a2a/errors/faults.js'
import * as a2a from '../dist/protocols/a2a/schemas/catalog.js'
import * as acp from '../dist/protocols/acp/catalog.js'
import { root } from './run.mjs'

const check = process.argv.includes('--check')
const folder = join(root, 'spec', 'protocol-artifacts')

const files = new Map()
/** Side `output`: an object is closed unless its schema says otherwise, and what is taken out before reading is out. */
const protocols = {
  a2a: { building: a2a.building, published: a2a.published, io: 'input' },
  acp: { building: acp.building, published: acp.published, io: 'output' },
  events: {
    building: { Json: json },
    published: [{ name: 'cloud-events', shapes: { CloudEvent: cloudEvent } }],
    io: 'output',
  },
}
for (const [protocol, catalog] of Object.entries(protocols)) {
  for (const one of catalog.published) {
    write(`${protocol}/${one.name}.schema.json`, schemaOf(protocol, one, catalog))
  }
}
write('manifest.json', manifest())

const stale = check ? staleFiles() : save()
for (const file of stale) {
  console.error(`spec/protocol-artifacts/${file}: ${check ? 'not current' : 'removed'}`)
}
console.log(
  `${files.size} protocol artifacts, ${check ? `${stale.length} not current` : 'written'}`,
)
if (check && stale.length > 0) {
  console.error('run `npm run gen-protocol-artifacts`')
  process.exitCode = 1
}

function write(file, content) {
  files.set(file, `${JSON.stringify(content, null, 2)}\n`)
}

/** One file per extension, every shape by name under `$defs`, with the shapes it is made of. */
function schemaOf(protocol, { name: file, uri, shapes }, { building, io }) {
  const names = z.registry()
  for (const [name, schema] of Object.entries({ ...building, ...shapes })) {
    if (!names.has(schema)) names.add(schema, { id: name })
  }
  const { schemas } = z.toJSONSchema(names, {
    target: 'draft-2020-12',
    io,
    uri: (name) => `#/$defs/${name}`,
  })
  const defs = {}
  const add = (name) => {
    if (defs[name] !== undefined) return
    const { $schema: _schema, $id: _id, ...schema } = schemas[name]
    defs[name] = schema
    for (const [, other] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) add(other)
  }
  for (const name of Object.keys(shapes)) add(name)
  const sorted = Object.fromEntries(Object.entries(defs).sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:lull:schema:${protocol}:${file}`,
    ...(uri === undefined ? {} : { $comment: uri }),
    $defs: sorted,
  }
}

/** What belongs to what, for programs. */
function manifest() {
  const listed = Object.entries(protocols).map(([protocol, { published }]) => [
    protocol,
    published.map(({ shapes, name, ...facts }) => ({
      name,
      schema: `${protocol}/${name}.schema.json`,
      ...facts,
      shapes: Object.keys(shapes),
    })),
  ])
  return {
    ...Object.fromEntries(listed),
    a2aErrors: Object.entries(faults).map(([reason, fault]) => ({ reason, ...fault })),
  }
}

function existing() {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replaceAll('\\', '/'))
}

/** Files of shapes that are gone count too. */
function staleFiles() {
  const current = (file) =>
    existsSync(join(folder, file)) && readFileSync(join(folder, file), 'utf8') === files.get(file)
  return [
    ...[...files.keys()].filter((file) => !current(file)),
    ...existing().filter((file) => !files.has(file)),
  ]
}

function save() {
  const gone = existing().filter((file) => !files.has(file))
  for (const file of gone) rmSync(join(folder, file))
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return gone
}
