import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import type { AgentDefinition } from '../author/agent.ts'
import type { EngineOptions } from '../options.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  running,
} from '../test-support/engine-harness.ts'

async function parkedTwice(
  options: Partial<EngineOptions> = {},
): Promise<{ harness: Harness; id: string; handle: string }> {
  const harness = await createHarness({
    options,
    agents: [
      running(async (task) => {
        const first = await task.park({ reason: 'one' })
        const second = await task.park({ reason: 'two' })
        await task.artifact({ name: 'inputs', data: [first.input, second.input] })
      }),
    ],
  })
  const { id } = await harness.send('go')
  const { suspension } = await harness.until(id, 'paused-by-agent')
  return { harness, id, handle: suspension?.handle ?? '' }
}

describe('a resume', () => {
  it('is refused under a handle that is not the current one, also an old one of the same task', async () => {
    const { harness, id, handle } = await parkedTwice()
    const wrong = harness.engine.resume(alice, { taskId: id, handle: 'suspend-no' })
    await expect(wrong).rejects.toMatchObject({ code: 'RESUME_HANDLE_MISMATCH' })
    await harness.engine.resume(alice, { taskId: id, handle })
    await harness.until(id, (task) => task.epoch === 2)
    const log = await harness.log(id)
    const old = harness.engine.resume(alice, { taskId: id, handle })
    await expect(old).rejects.toMatchObject({ code: 'RESUME_HANDLE_MISMATCH' })
    expect(await harness.log(id)).toEqual(log)
  })

  it('needs no handle, unless the server says so', async () => {
    const lax = await parkedTwice()
    await lax.harness.engine.resume(alice, { taskId: lax.id })
    const strict = await parkedTwice({ requireHandle: true })
    const refused = strict.harness.engine.resume(alice, { taskId: strict.id })
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'handle' },
    })
    await strict.harness.engine.resume(alice, { taskId: strict.id, handle: strict.handle })
  })

  it('succeeds once: a later resume gets the cause and time of the first', async () => {
    const { harness, id } = await parkedTwice()
    const tries = await Promise.allSettled(
      ['a', 'b', 'c'].map((input) => harness.engine.resume(alice, { taskId: id, input })),
    )
    expect(tries.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((tries[1] as PromiseRejectedResult).reason).toMatchObject({
      code: 'TASK_NOT_PAUSED',
      details: { state: 'working', cause: 'explicit_resume', resumedAt: harness.clock.now() },
    })
    await harness.until(id, (task) => task.epoch === 2)
    await harness.engine.resume(alice, { taskId: id, input: 'd' })
    expect(dataOf(await harness.until(id, 'completed'), 'inputs')).toEqual(['a', 'd'])
  })

  it('with the same idempotency key gets the first answer again, and does nothing', async () => {
    const { harness, id } = await parkedTwice()
    const metadata = { idempotencyKey: 'once' }
    const first = await harness.engine.resume(alice, { taskId: id, input: 1, metadata })
    await harness.until(id, (task) => task.epoch === 2)
    const log = await harness.log(id)
    expect(await harness.engine.resume(alice, { taskId: id, input: 2, metadata })).toEqual(first)
    expect(await harness.log(id)).toEqual(log)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
  })

  it.each<[Json | undefined, boolean]>([
    [undefined, false],
    [null, false],
    [0, true],
    ['', true],
    [{ a: [1] }, true],
  ])('with input %j says whether there was any', async (input, had) => {
    const { harness, id } = await parkedTwice()
    const answer = await harness.engine.resume(alice, { taskId: id, input })
    expect(answer.hadResumeInput).toBe(had)
    expect((await harness.get(id)).history).toHaveLength(1)
  })

  it('after a pause of somebody else shows in task.wake', async () => {
    const seen: Json[] = []
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        running(async (task) => {
          seen.push(task.wake?.input ?? null)
          await task.step('look', () => seen.push(task.wake?.input ?? null))
          seen.push(task.wake?.input ?? null)
        }),
      ],
    })
    await harness.engine.hold(
      { tenant: '*', principal: 'olga', operator: true },
      {
        scope: { all: true },
        reason: 'later',
        holdNew: true,
      },
    )
    const { id } = await harness.send('go')
    const paused = await harness.engine.pause(alice, { taskId: id })
    const [hold] = await harness.engine.holds({ tenant: '*', principal: 'olga', operator: true })
    await harness.engine.lift({ tenant: '*', principal: 'olga', operator: true }, hold?.id ?? '')
    expect((await harness.get(id)).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id, handle: paused.handle, input: 'hello' })
    await harness.until(id, 'completed')
    expect(seen).toEqual(['hello', 'hello', 'hello'])
  })
})

describe('the turn after a resume', () => {
  /** Two turns with a park between them; keeps what the second one saw. */
  const conversation = (some: Partial<AgentDefinition> = {}) =>
    running(async (task) => {
      await task.turn(async (turn) => {
        turn.record('agent', 'thinking')
        await task.step('mix', () => ({ colour: 'blue' }))
        await task.artifact({ name: 'draft', text: 'v1' })
      })
      await task.park({ reason: 'lunch' })
      const see = async (name: string) =>
        task.turn(async (turn) => {
          const transcript = JSON.parse(JSON.stringify(turn.transcript)) as Json
          const reminders = turn.reminders.map((one) => one.body)
          await task.artifact({ name, data: { transcript, reminders } })
        })
      await see('second')
      await see('third')
    }, some)

  it('gets one continuity reminder and the whole transcript', async () => {
    const harness = await createHarness({ agents: [conversation()] })
    const { id } = await harness.send('paint a boat')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    const task = await harness.until(id, 'completed')
    const second = dataOf(task, 'second') as { transcript: object[]; reminders: string[] }
    expect(second.reminders).toEqual([expect.stringContaining('lunch')])
    expect(second.reminders[0]).toContain('explicit_resume')
    expect(JSON.stringify(second.transcript)).toContain('thinking')
    expect((dataOf(task, 'third') as { reminders: string[] }).reminders).toEqual([])
  })

  it('with continueTranscript false sees a digest in place of the transcript', async () => {
    const harness = await createHarness({ agents: [conversation()] })
    const { id } = await harness.send('paint a boat')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
    const second = dataOf(await harness.until(id, 'completed'), 'second')
    expect(second).toMatchObject({ transcript: [{ role: 'digest' }] })
  })

  it.each(['warm', 'rebuilt'])('sees in the digest what a %s run did', async (how) => {
    const given = { agents: [conversation()] }
    let harness = await createHarness(given)
    const { id } = await harness.send([{ data: { paint: 'a boat' } }])
    await harness.until(id, 'paused-by-agent')
    if (how === 'rebuilt') harness = await harness.recover(given)
    await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
    const second = dataOf(await harness.until(id, 'completed'), 'second')
    const content = [
      'Asked: {"paint":"a boat"}',
      'Recorded last: thinking',
      'Step mix: {"colour":"blue"}',
      'Artifacts: draft',
      'Stopped: lunch (by agent worker); resumed by explicit_resume',
    ].join('\n')
    expect(second).toMatchObject({ transcript: [{ role: 'digest', content }] })
  })

  it('uses the digest of the agent where it has one, and no second one when rebuilt', async () => {
    const made = effects()
    const digest = () => {
      made.note('digest')
      return 'in short: a boat'
    }
    const harness = await createHarness({ agents: [conversation({ digest })] })
    const { id } = await harness.send('paint a boat')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
    const task = await harness.until(id, 'completed')
    expect(JSON.stringify(dataOf(task, 'second'))).toContain('in short: a boat')
    expect(made.count('digest')).toBe(1)
  })

  it('gets the default digest where that of the agent throws, and the failure is logged', async () => {
    const made = effects()
    const digest = () => {
      made.note('digest')
      throw new Error('no words')
    }
    const given = { agents: [conversation({ digest })] }
    const harness = await createHarness(given)
    const { id } = await harness.send('paint a boat')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
    const task = await harness.until(id, 'completed')
    expect(JSON.stringify(dataOf(task, 'second'))).toContain('Asked: paint a boat')
    expect(made.count('digest')).toBe(1)
  })
})
