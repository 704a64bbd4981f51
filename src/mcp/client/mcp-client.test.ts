/** Calls that run at the same time, over `connections.ts`. */
import { describe, expect, it } from 'vitest'
import { effects } from '../../engine/test-support/engine-harness.ts'
import { serveOverHttp, stdioServer } from '../test-support/sample-server.ts'
import { createMcpClient, type McpClient } from './mcp-client.ts'
import type { McpServer } from './server-config.ts'

/** Calls the tool that asks for a colour. Returns its result and the questions that reached this call. */
async function paint(client: McpClient, thing: string, signal = new AbortController().signal) {
  const asked: string[] = []
  const result = await client.call({
    server: 'sample',
    tool: { name: 'paint', readOnly: false, idempotent: false },
    input: { thing },
    idempotencyKey: thing,
    log: () => undefined,
    signal,
    onProgress: () => undefined,
    onQuestion: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { colour: `colour of the ${thing}` } }
    },
  })
  return { result, asked }
}

async function expectOwnQuestions(server: McpServer): Promise<void> {
  const client = createMcpClient({ sample: server })
  const things = ['door', 'roof', 'gate']
  const painted = await Promise.all(things.map((thing) => paint(client, thing)))
  expect(painted).toEqual(
    things.map((thing) => ({
      result: `painted colour of the ${thing}`,
      asked: [`Which colour for the ${thing}?`],
    })),
  )
  await client.close()
}

describe('calls at the same time', () => {
  it('K4: get their own questions over HTTP', async () => {
    const server = await serveOverHttp(effects())
    await expectOwnQuestions({ url: server.url })
    await server.close()
  })

  it('K4: get their own questions over stdio', async () => {
    await expectOwnQuestions(stdioServer())
  })

  it('K4: a call that is given up while it waits for its turn ends at once, and the order stays', async () => {
    const client = createMcpClient({ sample: stdioServer() })
    const first = paint(client, 'door')
    const givenUp = paint(client, 'roof', AbortSignal.abort(new Error('given up')))
    const last = paint(client, 'gate')
    await expect(givenUp).rejects.toThrow('given up')
    expect((await first).asked).toEqual(['Which colour for the door?'])
    expect((await last).asked).toEqual(['Which colour for the gate?'])
    await client.close()
  })
})
