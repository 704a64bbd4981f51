/** The seven stories of the seed documents, told as the people in them would. */
import { expect, it } from 'vitest'
import { agent } from '../../src/engine/author/agent.ts'
import type { AgentTask } from '../../src/engine/author/agent-task.ts'
import { alice, dataOf, effects } from '../../src/engine/test-support/engine-harness.ts'
import { describeScenarios } from './engines.ts'

const worker = (run: (task: AgentTask) => Promise<unknown>, name = 'worker') =>
  agent({
    name,
    description: 'works',
    run: async (task) => {
      await run(task)
    },
  })

describeScenarios('a caller suspends a task', (engines) => {
  it('between two of its steps, reads why, and lets it go on where it was', async () => {
    const done = effects()
    let arrived: () => void = () => undefined
    const inTheMiddle = new Promise<void>((resolve) => {
      arrived = resolve
    })
    let letGo: () => void = () => undefined
    const gone = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const harness = await engines.open(
      worker(async (task) => {
        const rows = await task.step('fetch', async () => {
          done.note('fetch')
          arrived()
          await gone
          return 3
        })
        await task.step('write', () => done.note(`write ${rows}`))
        await task.artifact({ name: 'resumed by', data: task.wake?.resumedBy?.id ?? null })
      }),
    )
    const { id } = await harness.send('copy the table')
    await inTheMiddle

    const pausing = harness.engine.pause(alice, { taskId: id, reason: 'maintenance window' })
    await harness.settled()
    letGo()
    const paused = await pausing
    expect(paused).toMatchObject({ state: 'paused-by-client', reason: 'maintenance window' })
    expect((await harness.get(id)).suspension?.initiator).toBe('client')

    await harness.pass(3_600_000)
    expect(done.list).toEqual(['fetch'])

    await harness.engine.resume(alice, { taskId: id, handle: paused.handle })
    const task = await harness.until(id, 'completed')
    expect(done.list).toEqual(['fetch', 'write 3'])
    expect(dataOf(task, 'resumed by')).toBe('alice')
  })
})

describeScenarios('an agent parks itself', (engines) => {
  it('on a build it started, and goes on by itself with what the build said', async () => {
    const builds = effects()
    const harness = await engines.open(
      worker(async (task) => {
        const build = await task.step('start ci', ({ idempotencyKey }) => {
          builds.note(idempotencyKey)
          return 1234
        })
        const wake = await task.park({
          reason: `waiting on ci/build:${build}`,
          onEvent: `ci.build.completed:${build}`,
          timeout: { durationMinutes: 30, onTimeout: 'fail' },
          summary: `Paused on CI build ${build}`,
        })
        const event = wake.event as { data?: { ok?: boolean } }
        await task.artifact({ name: 'verdict', data: event.data?.ok ?? null })
      }),
    )
    const { id } = await harness.send('rebase')
    const parked = await harness.until(id, 'paused-by-agent')
    expect(parked.suspension).toMatchObject({
      initiator: 'agent',
      reason: 'waiting on ci/build:1234',
      summary: 'Paused on CI build 1234',
    })

    await harness.pass(5 * 60_000)
    await harness.emit('ci.build.completed', { subject: '999', data: { ok: false } })
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.emit('ci.build.completed', { subject: '1234', data: { ok: true } })

    const task = await harness.until(id, 'completed')
    expect(dataOf(task, 'verdict')).toBe(true)
    expect(task.wake).toMatchObject({ cause: 'condition_fired', pausedMs: 5 * 60_000 })
    expect(builds.list).toHaveLength(1)
  })
})

describeScenarios('nobody comes in time', (engines) => {
  it('the default goes on with a summary, "fail" ends the task and says which deadline passed', async () => {
    const harness = await engines.open(
      worker(async (task) => {
        const onTimeout = task.text === 'strict' ? ({ onTimeout: 'fail' } as const) : {}
        const { cause, continueTranscript } = await task.park({
          reason: 'approval',
          onEvent: 'approved',
          timeout: { durationMinutes: 5, ...onTimeout },
        })
        await task.artifact({ name: 'wake', data: { cause, continueTranscript } })
      }),
    )
    const patient = await harness.send('patient')
    const strict = await harness.send('strict')
    await harness.until(patient.id, 'paused-by-agent')
    await harness.until(strict.id, 'paused-by-agent')
    await harness.pass(5 * 60_000)

    const gone = await harness.until(patient.id, 'completed')
    expect(dataOf(gone, 'wake')).toEqual({ cause: 'timeout', continueTranscript: false })
    const failed = await harness.until(strict.id, 'failed')
    expect(JSON.stringify(failed.statusMessage?.parts)).toContain('2026-01-01T00:05:00.000Z')
    await harness.emit('approved')
    const late = harness.engine.resume(alice, { taskId: strict.id })
    await expect(late).rejects.toMatchObject({ code: 'TASK_NOT_PAUSED' })
  })
})

describeScenarios('two resumes race', (engines) => {
  it('the first wins, the second is told so, and the work is done once', async () => {
    const done = effects()
    const harness = await engines.open(
      worker(async (task) => {
        const { input } = await task.park({ reason: 'approval' })
        await task.step('pay', () => done.note(`pay ${input}`))
      }),
    )
    const { id } = await harness.send('pay the bill')
    const { suspension } = await harness.until(id, 'paused-by-agent')
    const handle = suspension?.handle ?? ''
    const [first, second] = await Promise.allSettled([
      harness.engine.resume(alice, { taskId: id, handle, input: 'now' }),
      harness.engine.resume(alice, { taskId: id, handle, input: 'later' }),
    ])
    expect(first.status).toBe('fulfilled')
    expect((second as PromiseRejectedResult).reason).toMatchObject({
      code: 'TASK_NOT_PAUSED',
      details: { cause: 'explicit_resume' },
    })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['pay now'])
  })
})

describeScenarios('a task is closed while it is suspended', (engines) => {
  it('it is cancelled for good: no resume, no event and no deadline brings it back', async () => {
    const harness = await engines.open(
      worker(async (task) => {
        await task.park({ reason: 'x', onEvent: 'go', timeout: { durationMinutes: 1 } })
      }),
    )
    const { id } = await harness.send('wait')
    const { suspension } = await harness.until(id, 'paused-by-agent')
    await harness.engine.cancel(alice, { taskId: id, reason: 'not needed any more' })
    const log = await harness.log(id)
    expect((await harness.get(id)).state).toBe('canceled')

    const resume = harness.engine.resume(alice, { taskId: id, handle: suspension?.handle })
    await expect(resume).rejects.toMatchObject({ code: 'TASK_NOT_PAUSED' })
    await expect(harness.engine.cancel(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_TERMINAL',
    })
    await harness.emit('go')
    await harness.pass(60_000)
    expect(await harness.log(id)).toEqual(log)
  })
})

describeScenarios('suspensions are nested', (engines) => {
  it('a child stops and goes on by itself while its parent waits, and each has its own handle', async () => {
    const harness = await engines.open(
      worker(async (task) => {
        const children = await Promise.all(['a', 'b'].map((name) => task.delegate('child', name)))
        const results = await Promise.all(children.map((child) => child.result()))
        await task.artifact({ name: 'states', data: results.map(({ state }) => state) })
      }, 'parent'),
      worker(async (task) => {
        await task.park({ reason: `${task.text} waits` })
      }, 'child'),
    )
    const { id } = await harness.send('split it')
    await harness.settled()
    const { children } = await harness.get(id)
    const stopped = await Promise.all(
      children.map((child) => harness.until(child, 'paused-by-agent')),
    )
    const handles = stopped.map((task) => task.suspension?.handle)
    expect(new Set(handles).size).toBe(2)

    await harness.engine.pause(alice, { taskId: id, reason: 'lunch' })
    await harness.engine.resume(alice, { taskId: children[0] ?? '' })
    await harness.until(children[0] ?? '', 'completed')
    expect((await harness.get(children[1] ?? '')).state).toBe('paused-by-agent')
    expect((await harness.get(id)).state).toBe('paused-by-client')

    await harness.engine.resume(alice, { taskId: id })
    await harness.engine.resume(alice, { taskId: children[1] ?? '' })
    expect(dataOf(await harness.until(id, 'completed'), 'states')).toEqual([
      'completed',
      'completed',
    ])
  })
})

describeScenarios('the process restarts while a task is parked', (engines) => {
  it.each(['killed', 'stopped'] as const)('and the next one goes on (%s)', async (how) => {
    const done = effects()
    let harness = await engines.open(
      worker(async (task) => {
        await task.turn(async (turn) => {
          turn.record('agent', 'I have a plan')
          await turn.tool('plan', () => done.note('plan'))
        })
        const { input } = await task.park({
          reason: 'overnight',
          timeout: { durationMinutes: 600 },
        })
        const said = await task.turn((turn) => {
          done.note('second turn')
          return JSON.stringify(turn.transcript)
        })
        await task.artifact({ name: 'transcript', data: said })
        await task.artifact({ name: 'input', data: input })
      }),
    )
    const { id } = await harness.send('plan and wait')
    const parked = await harness.until(id, 'paused-by-agent')
    harness =
      how === 'killed'
        ? await engines.killAndRestart(harness)
        : await engines.stopAndRestart(harness)
    await harness.settled()
    expect((await harness.get(id)).suspension).toEqual(parked.suspension)

    const handle = parked.suspension?.handle
    await harness.engine.resume(alice, { taskId: id, handle, input: { approved: true } })
    const task = await harness.until(id, 'completed')
    expect(dataOf(task, 'input')).toEqual({ approved: true })
    expect(dataOf(task, 'transcript')).toContain('I have a plan')
    expect(done.list).toEqual(['plan', 'second turn'])
    expect((await harness.engine.verify(alice, id)).faults).toEqual([])
  })
})
