/** MCP tools in a loop, over `connections.ts`, with servers of the official SDK. */
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createHarness, effects, type Harness } from '../../engine/test-support/engine-harness.ts'
import type { McpServer } from '../../mcp/client/server-config.ts'
import { serveOverHttp, stdioServer } from '../../mcp/test-support/sample-server.ts'
import { freePort } from '../../stores/test-support/free-port.ts'
import { type ScriptedAnswer, scriptedModel } from '../test-support/mock-model.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { aiAgent } from './ai-agent.ts'

const about = { name: 'worker', description: 'works' }

type Calls = NonNullable<ScriptedAnswer['calls']>

async function start(server: McpServer, ...turns: readonly Calls[]) {
  const { model, prompts } = scriptedModel((turn) => {
    const calls = turns[turn]
    return calls === undefined ? { text: 'done' } : { calls }
  })
  const worker = aiAgent({ ...about, model, mcp: { sample: server } })
  const harness = await createHarness({ agents: [worker] })
  const { id } = await harness.send('go')
  return { harness, id, prompts }
}

const add = { tool: 'sample_add', input: { a: 1, b: 2 } }

async function stepsOf(harness: Harness, id: string): Promise<readonly string[]> {
  const records = await harness.log(id)
  return records.flatMap((one) => (one.type === 'step' && one.name !== 'model' ? [one.name] : []))
}

describe('tools of MCP servers', () => {
  it('are listed once, called over HTTP with an idempotency key, and their errors are told', async () => {
    const seen = effects()
    const server = await serveOverHttp(seen)
    const { harness, id, prompts } = await start(
      server,
      [add, { tool: 'sample_fail', id: 'f' }],
      [{ ...add, id: 'again' }],
    )
    expect((await harness.ended(id)).state).toBe('completed')
    expect(seen.list).toEqual(['add 1 2 true', 'add 1 2 true'])
    expect(JSON.stringify(prompts[1])).toContain('no disk')
    expect(prompts.flatMap(refusals)).toEqual([])
    expect(await stepsOf(harness, id)).toEqual([
      'mcp:sample:list',
      'sample_add',
      'sample_fail',
      'sample_add',
    ])
    await server.close()
  })

  it('K1 and K2: go on after the server has restarted, and a rebuilt task needs no server for its past', async () => {
    const seen = effects()
    const port = await freePort()
    const first = await serveOverHttp(seen, port)
    const park = { tool: 'sample_paint', input: {} }
    const { harness, id } = await start(first, [add], [park], [{ ...add, id: 'again' }])
    await harness.until(id, 'input-required')
    await first.close()
    const recovered = await harness.recover()
    await recovered.until(id, 'input-required')
    const second = await serveOverHttp(seen, port)
    await recovered.tell(id, 'blue')
    expect((await recovered.ended(id)).state).toBe('completed')
    expect(seen.list).toEqual(['add 1 2 true', 'asked', 'asked', 'painted blue', 'add 1 2 true'])
    await second.close()
  })

  it('keep apart from each other and from tools of the agent when names are the same', async () => {
    const seen = effects()
    const server = await serveOverHttp(seen)
    const long = 's'.repeat(64)
    let offered: readonly string[] = []
    const { model } = scriptedModel((turn, _, { tools = [] }) => {
      offered = tools.map(({ name }) => name)
      return turn === 0 ? { calls: [{ tool: 'sample_add' }] } : { text: 'done' }
    })
    const own = tool({ inputSchema: z.object({}), execute: () => seen.note('own') })
    const mcp = { sample: server, [long]: server }
    const worker = aiAgent({ ...about, model, mcp, tools: { sample_add: own } })
    const harness = await createHarness({ agents: [worker] })
    const { id } = await harness.send('go')
    await harness.ended(id)
    expect(seen.list).toEqual(['own'])
    expect(offered).toHaveLength(13)
    expect(new Set(offered).size).toBe(13)
    expect(offered).toContain('sample_add_2')
    expect(offered).toContain(`${'s'.repeat(62)}_2`)
    expect(offered.every((name) => name.length <= 64)).toBe(true)
    await server.close()
  })

  it('report progress as at most ten reports of the task', async () => {
    const server = await serveOverHttp(effects())
    const { harness, id } = await start(server, [{ tool: 'sample_work' }])
    const task = await harness.ended(id)
    expect(task.state).toBe('completed')
    const said = (await harness.log(id)).filter((one) => one.type === 'said')
    expect(said.length).toBeGreaterThan(0)
    expect(said.length).toBeLessThanOrEqual(12)
    await server.close()
  })

  it('that do not answer in time are given up, and the model is told', async () => {
    const server = await serveOverHttp(effects())
    const config = { url: server.url, timeoutMs: 200 }
    const { harness, id, prompts } = await start(config, [{ tool: 'sample_hang' }])
    expect((await harness.ended(id)).state).toBe('completed')
    expect(JSON.stringify(prompts[1]?.at(-1))).toMatch(/error-text.*timed out/i)
    await server.close()
  })

  it('K3: run over stdio, where the death of the server is told to the model and the next call starts it anew', async () => {
    const { harness, id, prompts } = await start(stdioServer(), [{ tool: 'sample_die' }], [add])
    expect((await harness.ended(id)).state).toBe('completed')
    expect(JSON.stringify(prompts[1]?.at(-1))).toContain('error-text')
    expect(JSON.stringify(prompts[2]?.at(-1))).toContain('"3"')
  })
})
