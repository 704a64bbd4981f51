/** Examples that are whole programs run, against the demo agents where they speak to a server, and print what is shown below them. The server of an app refuses strangers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { demoAgents } from '../../src/demo/demo-agents.ts'
import { type RunningServer, serve } from '../../src/server/serve.ts'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { documents, root } from './documents.ts'

let directory: string
let server: RunningServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-docs-client-'))
  // A project that has the package installed.
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(root, join(directory, 'node_modules', 'lull'))
  const data = join(directory, 'data')
  server = await serve({ agents: demoAgents, port: 0, data, log: () => undefined, quiet: true })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

const pages = ['client.md', 'reminders.md'].map((name) => join('docs', name))
const shown = documents()
  .filter(({ path }) => pages.includes(path))
  .flatMap(({ path, blocks }) =>
    blocks.flatMap(({ language, text: code }, index) => {
      const next = blocks[index + 1]
      if (language !== 'ts') return []
      return [[path, code, next?.language === 'text' ? next.text : undefined] as const]
    }),
  )

it('shows what each example prints', () => {
  expect(shown.length).toBeGreaterThan(5)
  expect(shown.filter(([, , output]) => output === undefined)).toEqual([])
})

it.each(shown.map((one, index) => [index + 1, ...one] as const))(
  'example %i, in %s',
  async (...given) => {
    const [number, , code, output] = given
    const file = join(directory, `${number}.mts`)
    writeFileSync(file, code.replaceAll('http://127.0.0.1:8787', server.url))
    const child = spawn(join(root, 'node_modules', '.bin', 'tsx'), [file], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err, [exit]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
    expect([exit, err]).toEqual([0, ''])
    const printed = out.split('\n').map((line) => line.trimEnd())
    expect(printed.join('\n')).toBe(output)
  },
)

it('the server in embedding.md refuses callers without a session, whatever name they give', async () => {
  const blocks = documents().find(({ path }) => path === join('docs', 'embedding.md'))?.blocks ?? []
  const code = blocks.find((block) => block.text.includes('createServer('))?.text ?? ''
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/lull`
  const file = join(directory, 'embedding.mts')
  const started = `.listen(${port}, () => console.log('listening'))`
  writeFileSync(
    file,
    code.replace('https://example.com/lull', url).replace('.listen(3000)', started),
  )
  const child = spawn(join(root, 'node_modules', '.bin', 'tsx'), [file], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    await once(child.stdout, 'data')
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message },
    })
    const named = { 'x-user': 'ann', cookie: 'session=guessed' }
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...named }
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401)
  } finally {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
})
