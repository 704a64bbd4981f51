/** `lull acp` as an editor starts it: a process of its own, spoken to with the official client. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as sdk from '@agentclientprotocol/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPostgres, storeVariables } from '../support/test-store.ts'
import { serving } from './lull-process.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lull-acp-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at, not typed
type Loose = any

function editor(...args: readonly string[]) {
  const data = join(home, 'data')
  const child = spawn(process.execPath, [main, 'acp', ...args, '--data', data], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...storeVariables(data) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const complaints = text(child.stderr)
  const exited = once(child, 'close').then(([code]) => code as number | null)
  const updates: Loose[] = []
  const ended: Loose[] = []
  const connection = sdk
    .client()
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update)
    })
    .onNotification(
      '_session/turn_ended',
      (params) => params,
      ({ params }) => {
        ended.push(params)
      },
    )
    .connect(sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as never))
  const { agent } = connection
  return {
    child,
    agent,
    updates,
    ended,
    complaints,
    exited,
    words: () => updates.flatMap(({ content }) => content?.text ?? []).join(''),
    async open() {
      const clientCapabilities = { _meta: { lull: {} } }
      await agent.request('initialize', { protocolVersion: 1, clientCapabilities })
      return (await agent.request('session/new', { cwd: home, mcpServers: [] })).sessionId
    },
    prompt: (sessionId: string, ...ops: readonly object[]) =>
      agent.request('session/prompt', {
        sessionId,
        prompt: [{ type: 'text', text: JSON.stringify({ script: ops }) }],
      }),
    /** The client goes away. */
    hangUp() {
      connection.close()
      child.stdin.destroy()
      return exited
    },
  }
}

describe('`lull acp`', () => {
  it('keeps what agents print out of the protocol, whenever and however they print it', async () => {
    const module = join(home, 'agents.mjs')
    writeFileSync(
      module,
      `console.log('loaded')
       export const agents = [{
         name: 'chatty', description: 'Prints',
         run(task) { console.log('one'); process.stdout.write('two\\n'); console.info('three'); return 'said ' + task.metadata.acp.cwd },
       }]`,
    )
    const chatty = editor(module)
    const sessionId = await chatty.open()
    const { stopReason } = await chatty.prompt(sessionId)
    expect(stopReason).toBe('end_turn')
    expect(chatty.words()).toBe(`said ${home}`)
    expect(await chatty.hangUp()).toBe(0)
    const printed = await chatty.complaints
    for (const word of ['loaded', 'one', 'two', 'three']) expect(printed).toContain(word)
  })

  it('wakes what parked itself while nobody was there, and shows it to who comes next', async () => {
    const first = editor('--script')
    const sessionId = await first.open()
    const timeout = { durationMinutes: 0.001, onTimeout: 'resume_with_summary' }
    const park = { park: { reason: 'a moment', conditions: { timeout } } }
    await first.prompt(sessionId, { say: 'before' }, park, { say: ' after' })
    expect(await first.hangUp()).toBe(0)

    const second = editor('--script')
    await second.open()
    await second.agent.request('session/load', { sessionId, cwd: home, mcpServers: [] })
    await expect.poll(() => second.words()).toContain('before after')
    const stops = second.updates.filter(({ toolCallId }) => toolCallId?.startsWith('suspend-'))
    expect(stops).toMatchObject([
      { sessionUpdate: 'tool_call', title: 'Parked: a moment' },
      { sessionUpdate: 'tool_call_update', content: [{ content: { text: 'Resumed: timeout' } }] },
    ])
    await second.hangUp()
  })

  it('waits for a process that is about to leave the directory', async () => {
    const first = editor('--script')
    const sessionId = await first.open()
    void first.prompt(sessionId, { say: 'x' }, { step: 'slow', ms: 1_500 }).catch(() => undefined)
    await expect.poll(() => first.words()).toBe('x')
    first.child.stdin.end()
    // It hides where it can be reached before it drains: from then on the next one has to wait.
    await expect.poll(() => existsSync(join(home, 'data', 'lull.address'))).toBe(false)
    const second = editor('--script')
    await second.open()
    expect(await first.exited).toBe(0)
    await second.agent.request('session/load', { sessionId, cwd: home, mcpServers: [] })
    await expect.poll(() => second.updates.map(({ title }) => title)).toContain('slow')
    await second.hangUp()
  })

  it('serves those who attached to it when its own client has gone', async () => {
    const first = editor('--script')
    await first.open()
    const second = editor('--script')
    const sessionId = await second.open()
    first.child.stdin.end()
    await second.prompt(sessionId, { say: 'still here' })
    expect(second.words()).toBe('still here')
    expect(await second.hangUp()).toBe(0)
    expect(await first.exited).toBe(0)
  })
})

// Only one process has a data directory. Many processes have a database.
if (!onPostgres) {
  describe('`lull acp` and a server on one directory', () => {
    it('attaches where a server has the directory, sees its tasks, and says when that is gone', async () => {
      const server = await serving([
        'serve',
        '--script',
        '--port',
        '0',
        '--data',
        join(home, 'data'),
      ])
      const attached = editor('--script', '--port', '0')
      const sessionId = await attached.open()
      const { _meta } = (await attached.prompt(sessionId, { park: { reason: 'x' } })) as Loose
      const task = await fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'GetTask',
          params: { id: _meta.lull.taskId },
        }),
      })
      const { result } = (await task.json()) as Loose
      expect(result.contextId).toBe(sessionId)
      server.signal('SIGKILL')
      expect(await attached.exited).toBe(3)
      expect(await attached.complaints).toContain('is gone')
    })
  })
}
