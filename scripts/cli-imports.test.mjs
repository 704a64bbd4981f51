/** What starting the program loads. Time is not measured: a busy machine would decide. */
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { importsOf } from './layers.mjs'

const source = fileURLToPath(new URL('../src', import.meta.url))

/** Every module that the module imports, directly or not, without calls of `import()`. */
function loadedBy(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(file, 'utf8')
    .replace(/\bimport\(/g, 'later(')
    .replace(/^(import|export) type .*$/gm, '')
  for (const name of importsOf(text)) {
    if (name.startsWith('.')) loadedBy(resolve(dirname(file), name), found)
    else found.add(name)
  }
  return found
}

it('the program loads the engine and the libraries of the server only for commands that serve', () => {
  const loaded = [...loadedBy(resolve(source, 'cli/start.ts'))]
  const packages = loaded.filter((name) => !name.startsWith('/') && !name.startsWith('node:'))
  expect(packages).toEqual([])
  const files = loaded.map((name) => relative(source, name))
  expect(files.some((name) => name.startsWith('client/'))).toBe(true)
  // Words that the server and the command line share, without code of the engine.
  const heavy = files.filter((name) => /^(engine|protocols|stores)\//.test(name))
  expect(heavy).toEqual(['engine/caller.ts'])
})

it('packages that only some users install are loaded only by the parts that need them', () => {
  const optional = (file) =>
    [...loadedBy(resolve(source, file))].filter((name) =>
      /^(ai$|@modelcontextprotocol\/)/.test(name),
    )
  expect(optional('index.ts')).toEqual([])
  expect(optional('engine.ts')).toEqual([])
  expect(optional('cli/main.ts')).toEqual([])
  // The tools of MCP servers are loaded when an agent has some.
  expect(optional('ai/index.ts')).toEqual(['ai'])
})
