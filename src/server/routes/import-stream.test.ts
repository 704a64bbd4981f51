/** Imports as a stream: whatever `lull export` writes can be imported, and a line has limits of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOps } from '../../client/ops-client.ts'
import type { TaskExport } from '../../core/receipts/task-export.ts'
import type { RecordBody } from '../../core/records.ts'
import { forged } from '../../engine/test-support/forged-export.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { startServer } from '../serve.ts'
import { readLines } from './ops-routes.ts'

async function openServer() {
  const data = mkdtempSync(join(tmpdir(), 'lull-import-'))
  const agents = [createScriptAgent()]
  const log = (): void => undefined
  const { url, close } = await startServer({ agents, port: 0, data, store: 'memory', log })
  onTestFinished(async () => {
    await close()
    rmSync(data, { recursive: true })
  })
  return { url, ops: createOps({ url }) }
}

const ended: RecordBody = { type: 'canceled', actor: { kind: 'client', id: 'anonymous' } }

/** A task with so many values, each with such a text. */
function recorded(
  taskId: string,
  count: number,
  value: RecordBody & { type: 'value' },
): TaskExport {
  const values = Array.from({ length: count }, (_, index) => ({ ...value, key: `now:#${index}` }))
  const owner = { tenant: 'default', principal: 'anonymous' }
  return forged({ ...owner, taskId }, [...values, ended])
}

const small = { type: 'value', key: '', value: [1, 2, 3, 4, 5, 6, 7, 8, 9] } as const
const large = { type: 'value', key: '', value: 'x'.repeat(1_000_000) } as const

describe('what a server exports', () => {
  it.each([
    ['many small records', recorded('small', 9_500, small)],
    ['more bytes than a request may have', recorded('large', 12, large)],
  ])('with %s is imported by another one', async (_, file) => {
    const [first, second] = [await openServer(), await openServer()]
    const done = await first.ops.import(file)
    expect(done).toMatchObject({ state: 'canceled', records: file.records.length })
    const exported = await first.ops.export(done.taskId)
    expect(await second.ops.import(exported)).toMatchObject({ records: file.records.length })
    expect((await second.ops.log(done.taskId)).records).toEqual(file.records)
  })

  it('is imported and started by one request, and JSON is still taken', async () => {
    const { url, ops } = await openServer()
    const owner = { tenant: 'default', principal: 'anonymous' }
    const held = await ops.import(forged({ ...owner, taskId: 'held' }))
    expect(held.holdId).toBeDefined()
    const started = await ops.import(forged({ ...owner, taskId: 'started' }), true)
    expect(started.holdId).toBeUndefined()
    const body = JSON.stringify({ ...forged({ ...owner, taskId: 'json' }), start: true })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/ops/imports`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
  })
})

describe('a stream of lines', () => {
  async function* inPieces(text: string, size = 5): AsyncGenerator<Uint8Array, void> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }

  it('is read in pieces of any size, with empty lines and without a last newline', async () => {
    const text = '{"a":"é"}\n\n  \r\n[1,2]\r\n"last"'
    for (let size = 1; size < 12; size++) {
      expect(await readLines(inPieces(text, size))).toEqual([{ a: 'é' }, [1, 2], 'last'])
    }
    expect(await readLines(inPieces(''))).toEqual([])
  })

  it.each([
    ['{"a":1}\nno', 'line 2', 'is not valid JSON'],
    ['{"__proto__":1}\n1', 'line 1', '__proto__'],
    ['{"a":1,"a":2}\n1', 'line 1', 'given twice'],
    [`1\n${'['.repeat(300)}${']'.repeat(300)}`, 'line 2', 'nested deeper'],
  ])('that is wrong is refused with its line (%#)', async (text, path, problem) => {
    const refused = readLines(inPieces(text, 64))
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { path } })
    await expect(refused).rejects.toThrow(problem)
  })

  it('that is too long, or more than the caller may have in flight, is read to its end and refused', async () => {
    let read = 0
    async function* body() {
      for await (const piece of inPieces('"0123456789"\n'.repeat(10))) {
        read += piece.length
        yield piece
      }
    }
    await expect(readLines(body(), { mostBytes: 50 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { value: 50 },
    })
    expect(read).toBe(130)
    const held: number[] = []
    const hold = (bytes: number): void => void held.push(bytes)
    await readLines(body(), { hold })
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBe(130)
  })

  it('with a mistake is answered by the server, which goes on', async () => {
    const { url, ops } = await openServer()
    const headers = { 'content-type': 'application/x-ndjson' }
    for (const body of ['', 'no', `{}\n${'x'.repeat(20_000_000)}\n{}`, '{"taskId":1}\n{}']) {
      const answer = await fetch(`${url}/ops/imports`, { method: 'POST', headers, body })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: { code: 'INVALID_INPUT' } })
    }
    expect((await ops.tasks()).tasks).toEqual([])
  })
})
