/** A program that was bundled with esbuild: with the package as external it runs, and else the error says what to do. */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
/** Inside the package, so that `lull` means the package itself, and not in version control. */
const directory = join(root, 'coverage', 'bundled')
const require = createRequire(import.meta.url)
const esbuild = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
  build(options: object): Promise<unknown>
}

beforeAll(() => mkdirSync(directory, { recursive: true }))
afterAll(() => rmSync(directory, { recursive: true }))

/** Says its text again, and ends. */
async function bundled(name: string, store: string, external: readonly string[]): Promise<string> {
  const source = join(directory, `${name}-source.mjs`)
  writeFileSync(
    source,
    `import { agent, openEngine } from 'lull'
     const echo = agent({ name: 'echo', description: 'x', run: (task) => task.text })
     try {
       const { engine, close } = await openEngine({
         agents: [echo], store: '${store}', data: ${JSON.stringify(join(directory, `${name}-data`))},
       })
       const ann = { tenant: 'default', principal: 'ann' }
       const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'it runs' }] }
       const { task } = await engine.send(ann, { message })
       const done = await engine.waitFor(ann, task.id, ({ state }) => state === 'completed')
       console.log(done.statusMessage.parts[0].text)
       await close()
     } catch (error) { console.log(error.message) }`,
  )
  const outfile = join(directory, `${name}.mjs`)
  const banner = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`
  await esbuild.build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    banner: { js: banner },
    external: ['@photostructure/sqlite', 'pg-native', ...external],
  })
  const { stdout } = await run(process.execPath, [outfile], { encoding: 'utf8' })
  return stdout.trim()
}

it.each([
  ['external', 'sqlite', ['lull'], /^it runs$/],
  ['inside', 'memory', [], /^it runs$/],
  ['moved', 'sqlite', [], /name lull as an external package \(esbuild: --external:lull/],
] as const)('%s, on %s', async (name, store, external, said) => {
  expect(await bundled(name, store, external)).toMatch(said)
})
