/** The layers of `src/`: who may import whom, and which packages and parts of Node each may use. */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'

/** Read downwards: each layer imports itself and what its row lists, and uses only the packages and parts of Node named. */
export const layers = {
  // For `sha256.ts`. Chance is refused below.
  core: { imports: [], packages: [], builtins: ['crypto'] },
  ports: { imports: ['core'], packages: [], builtins: [] },
  engine: {
    imports: ['core', 'ports'],
    packages: ['zod', 'croner', '@standard-schema/spec'],
    builtins: ['async_hooks'],
  },
  stores: {
    imports: ['core', 'ports'],
    packages: ['@photostructure/sqlite', 'pg'],
    builtins: ['crypto', 'events', 'fs', 'os', 'path', 'timers/promises', 'url', 'worker_threads'],
  },
  // What servers and their protocols speak HTTP with.
  http: { imports: [], packages: [], builtins: [] },
  // What clients and servers share.
  wire: { imports: [], packages: ['@bufbuild/protobuf'], builtins: [] },
  protocols: {
    imports: ['core', 'engine', 'http', 'wire'],
    packages: ['zod', '@agentclientprotocol/sdk', '@connectrpc/connect', '@bufbuild/protobuf'],
    builtins: ['crypto', 'dns', 'http', 'https', 'net', 'os', 'path', 'stream'],
  },
  // It also runs in browsers.
  client: {
    imports: ['core', 'wire'],
    packages: ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'],
    builtins: [],
  },
  testing: {
    imports: ['core', 'ports', 'engine', 'stores'],
    packages: ['zod', 'vitest'],
    builtins: ['fs', 'process'],
  },
  // Agents on the AI SDK, which its users install.
  ai: { imports: ['core', 'engine', 'mcp'], packages: ['ai', '@opentelemetry/api'], builtins: [] },
  // The Model Context Protocol, both ways.
  mcp: {
    imports: ['core', 'client', 'http'],
    packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/server', 'zod'],
    builtins: ['stream'],
  },
  demo: { imports: ['core', 'engine', 'testing'], packages: [], builtins: ['zlib'] },
  server: {
    imports: ['core', 'ports', 'engine', 'stores', 'protocols', 'http', 'wire', 'demo', 'testing'],
    packages: [
      'zod',
      'hono',
      '@hono/node-server',
      'jose',
      'openid-client',
      'ws',
      '@opentelemetry/api',
      'pino',
      '@connectrpc/connect',
      '@bufbuild/protobuf',
    ],
    builtins: 'all',
  },
  cli: {
    imports: ['core', 'client', 'server', 'demo', 'testing', 'mcp'],
    packages: [],
    builtins: 'all',
  },
}

/** Siblings that do not know each other. */
const families = ['stores', 'protocols']

/** Where time and chance are dependencies: `Clock` and `IdSource` bring them. */
const pure = /^src\/(core|engine)\//
const impure =
  /\b(?:Math\.random|random(?:Bytes|UUID|Int|Fill\w*)|getRandomValues|globalThis|performance\.now|Date\.now)\b/

const isTest = (path) => /\.test(-d)?\.ts$|\/test-support\//.test(path)

/** Every module a text names: `import … from`, `export … from`, `import '…'`, `import('…')`, with or without `type`. */
export function importsOf(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const found = code.matchAll(
    /(?:^|[\s;])(?:import|export)\b(?:[^'"`;=]*?\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g,
  )
  return [...found].map(([, named, called]) => named ?? called)
}

/** @param files `{path, text}`, paths from the root @param runtime names of the packages a user of Lull has */
export function problemsIn(files, runtime) {
  const known = new Set(files.map(({ path }) => path))
  const unlisted = new Set(
    files
      .map(({ path }) => path.split('/'))
      .flatMap(([, layer, file]) => (file && !layers[layer] ? [layer] : [])),
  )
  return [
    ...[...unlisted].map((layer) => `src/${layer} has no row: say what it may import`),
    ...files.flatMap(({ path, text }) => problemsOf(path, text, known, runtime)),
  ]
}

function problemsOf(path, text, known, runtime) {
  const [, layer, family] = path.split('/')
  const row = layers[layer]
  const allowed = (specifier) => {
    if (specifier.startsWith('.')) return refusalOfFile(path, specifier, known, row, layer, family)
    if (row === undefined || isTest(path)) return undefined
    return isBuiltin(specifier)
      ? refusalOfBuiltin(specifier, row)
      : refusalOfPackage(specifier, row, runtime, layer)
  }
  const imports = importsOf(text).flatMap((specifier) => {
    const why = allowed(specifier)
    return why === undefined ? [] : [`${path}: ${specifier}: ${why}`]
  })
  const [word] = pure.test(path) && !isTest(path) ? (withoutComments(text).match(impure) ?? []) : []
  return word === undefined
    ? imports
    : [...imports, `${path}: ${word}: take a Clock or an IdSource`]
}

function refusalOfFile(path, specifier, known, row, layer, family) {
  const target = posix.join(posix.dirname(path), specifier)
  if (!known.has(target) && target.endsWith('.ts')) return 'there is no such file'
  if (row === undefined || isTest(path)) return undefined
  const [, to, sibling] = target.split('/')
  if (to === layer) {
    const stranger = families.includes(layer) && sibling !== family
    return stranger ? `${layer} do not know each other` : undefined
  }
  return row.imports.includes(to) ? undefined : `${layer} may not import ${to}`
}

function refusalOfBuiltin(specifier, { builtins }) {
  const name = specifier.replace(/^node:/, '')
  return builtins === 'all' || builtins.includes(name) ? undefined : 'not a part of Node it may use'
}

function refusalOfPackage(specifier, { packages }, runtime, layer) {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  if (!packages.includes(name)) return 'not a package it may use'
  // `testing` is the kit whose users bring their own test runner.
  return runtime.includes(name) || layer === 'testing' ? undefined : 'not a runtime dependency'
}

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
}
