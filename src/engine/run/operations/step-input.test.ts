/** `{ with }`: the digest of a step's input is recorded, and compared when the run is rebuilt. */
import { describe, expect, it } from 'vitest'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { JsonInput } from '../../../core/values/json.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

type Pay = (task: AgentTask, input: JsonInput | undefined) => Promise<unknown>

/** Pays with the first input, parks, and is rebuilt with the second one. */
async function rebuilt(
  pay: Pay,
  [first, second]: readonly [JsonInput | undefined, JsonInput | undefined],
): Promise<{ harness: Harness; id: string }> {
  let input = first
  const agent = running(async (task) => {
    await pay(task, input)
    await task.park({ reason: 'x' })
  })
  const harness = await createHarness({ agents: [agent], options: { warmForMs: 0 } })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  input = second
  await harness.engine.resume(alice, { taskId: id })
  await harness.until(id, ({ state }) => state === 'completed' || state === 'paused-by-client')
  return { harness, id }
}

function payments() {
  const paid: (JsonInput | undefined)[] = []
  const pay: Pay = (task, input) =>
    task.step('pay', () => void paid.push(input), input === undefined ? {} : { with: input })
  return { paid, pay }
}

describe('the input of a step', () => {
  it('is recorded as the SHA-256 of its canonical JSON', async () => {
    const { harness, id } = await rebuilt(payments().pay, [
      { b: [1], a: null },
      { a: null, b: [1] },
    ])
    expect((await harness.get(id)).state).toBe('completed')
    const step = (await harness.log(id)).find((record) => record.type === 'step')
    expect(step).toMatchObject({ inputDigest: sha256('{"a":null,"b":[1]}') })
    expect(sha256(canonical({ b: [1], a: null }))).toBe(sha256('{"a":null,"b":[1]}'))
  })

  it('that is another one after a rebuild stops the task, names the step, and runs it once when accepted', async () => {
    const { paid, pay } = payments()
    const { harness, id } = await rebuilt(pay, [{ to: 'alice' }, { to: 'mallory' }])
    const { suspension } = await harness.get(id)
    expect(suspension).toMatchObject({
      reason: 'code-changed',
      summary: expect.stringContaining('step "pay"'),
    })
    expect(paid).toEqual([{ to: 'alice' }])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(paid).toEqual([{ to: 'alice' }, { to: 'mallory' }])
  })

  it('of a tool is compared, too', async () => {
    const tool: Pay = (task, input = null) =>
      task.turn((turn) => turn.tool('pay', () => 1, { with: input }))
    const { harness, id } = await rebuilt(tool, [1, 2])
    expect((await harness.get(id)).suspension?.summary).toContain('tool "pay"')
  })

  it('is compared where it was given both times: code may begin to give it, and may stop', async () => {
    for (const inputs of [
      [undefined, 1],
      [1, undefined],
    ] as const) {
      const { paid, pay } = payments()
      const { harness, id } = await rebuilt(pay, inputs)
      expect((await harness.get(id)).state).toBe('completed')
      expect(paid).toHaveLength(1)
    }
  })

  it('that is another one in a step inside a step stops the task, and the outer step ends', async () => {
    let input = 1
    const inside = signal()
    const agent = running(async (task) => {
      await task.step('outer', async ({ attempt }) => {
        await task.step('inner', () => 1, { with: input })
        inside.fire()
        if (attempt === 1 && input === 1) await new Promise(() => undefined)
      })
    })
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await inside.promise
    input = 2
    const next = await harness.recover()
    const task = await next.until(id, 'paused-by-client')
    expect(task.suspension?.summary).toContain('step "inner"')
    await next.engine.resume(alice, { taskId: id })
    await next.until(id, 'completed')
  })

  it('that is no JSON is refused before the step runs', async () => {
    const refusals: string[] = []
    const inputs: unknown[] = [{ at: new Map() }, { n: Number.NaN }, () => 1]
    const agent = running(async (task) => {
      for (const input of inputs) {
        await task
          .step('pay', () => refusals.push('ran'), { with: input as JsonInput })
          .catch(({ code, message }: Error & { code: string }) =>
            refusals.push(`${code} ${message}`),
          )
      }
    })
    const harness = await createHarness({ agents: [agent] })
    await harness.ended((await harness.send('go')).id)
    expect(refusals).toHaveLength(3)
    for (const refusal of refusals) expect(refusal).toMatch(/^INVALID_INPUT options\.with/)
  })
})
