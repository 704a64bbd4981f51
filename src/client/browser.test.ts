/** Nothing that a browser lacks can be reached from the entry: no package, no part of Node, no global of its own. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const entry = fileURLToPath(new URL('./index.ts', import.meta.url))

/** Every module that is there at run time, with its text; types are gone by then. */
function reachable(file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(file)) return seen
  const text = readFileSync(file, 'utf8')
  seen.set(file, text)
  for (const to of importsIn(text)) {
    if (!to.startsWith('.')) throw new Error(`${file} imports ${to}`)
    reachable(join(dirname(file), to), seen)
  }
  return seen
}

function importsIn(text: string): readonly string[] {
  const statements = text.matchAll(/^(?:import|export)\b(?! type\b)[^'"]*? from '([^']+)'/gms)
  const bare = text.matchAll(/^import '([^']+)'|\bimport\(\s*'([^']+)'/gm)
  return [...statements, ...bare].map(([, first, second]) => first ?? second ?? '')
}

it('needs nothing but fetch and streams', () => {
  const modules = reachable(entry)
  expect(modules.size).toBeGreaterThan(15)
  for (const [file, text] of modules) {
    const code = text.replace(/\/\*.*?\*\/|\/\/.*$/gms, '')
    expect(code, file).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b[.([]/)
  }
})
