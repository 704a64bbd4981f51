/** A program that opens an engine without a server: nothing but the engine keeps its process alive. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const lull = new URL('../../dist/index.js', import.meta.url).href

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lull-embedded-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** @param run the body of the agent's function, and `after` what the program does once the task has ended */
function program(run: string, after: string): string {
  return `
    import { agent, openEngine } from ${JSON.stringify(lull)}
    const worker = agent({ name: 'worker', description: 'x', concurrency: 1, async run(task) {
      if (task.text === 'child') { await task.sleep(300); return 'child done' }
      ${run}
      return 'done'
    } })
    const data = ${JSON.stringify(join(dir, 'data'))}
    const { engine, close } = await openEngine({ agents: [worker], data })
    const ann = { tenant: 'default', principal: 'ann' }
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'go' }] }
    const { task } = await engine.send(ann, { message })
    const { state } = await engine.waitFor(ann, task.id, ({ state }) => state === 'completed')
    console.log(state)
    ${after}
  `
}

function node(text: string): Promise<{ readonly code: unknown; readonly out: string }> {
  const path = join(dir, 'program.mjs')
  writeFileSync(path, text)
  return new Promise((resolve) => {
    execFile(process.execPath, [path], (error, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), out: out + err })
    })
  })
}

describe('an engine without a server', () => {
  it.each([
    [
      'a retry',
      `let tries = 0
       await task.step('flaky', () => { if (++tries < 3) throw new Error('no'); return tries },
         { retry: { attempts: 5, backoffMs: 200 } })`,
    ],
    ['a timer', `await task.sleep(300)`],
    ['a child', `await (await task.delegate('worker', 'child')).result()`],
  ])(
    'keeps its process alive while a task waits for %s, until it is closed',
    async (_name, run) => {
      expect(await node(program(run, 'await close()'))).toEqual({ code: 0, out: 'completed\n' })
    },
  )
})
