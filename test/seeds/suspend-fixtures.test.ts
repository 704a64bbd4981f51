/**
 * The suspend and resume fixtures of the reference implementation (Harn), each under its own name, over A2A against a
 * running server. A title says where Lull differs. Two fixtures are not here: spans (`suspend_otel_links`) do not appear
 * on this wire, and holds of many tasks have their own tests.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent, isLullError } from '../../src/index.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

const CONTROL = 'urn:lull:a2a:task-control:1'
/** In minutes. */
const SOON = 0.001
/** A boundary every few milliseconds, without end. */
const busy = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]

const lines: string[] = []
const ran = (id: string): readonly string[] =>
  lines.filter((line) => line.includes(id)).map((line) => line.split(' ').slice(0, 3).join(' '))

/** Parks on something that is no trigger, and looks at what it is told. */
const careless = agent({
  name: 'careless',
  description: 'Parks the wrong way, and goes on',
  async run(task) {
    try {
      await task.park({ reason: 'ci', trigger: 'build 1234' as never })
    } catch (error) {
      if (!isLullError(error, 'INVALID_INPUT')) throw error
      await task.artifact({ name: 'feedback', data: { path: error.details.path } })
    }
    return 'went on'
  },
})
const plain = agent({ ...createScriptAgent({ name: 'plain' }), pause: false, reminders: false })

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({
    agents: [createScriptAgent({ effects: (line) => lines.push(line) as never }), careless, plain],
  })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

async function parked(park: object, then: readonly object[] = []): Promise<string> {
  const { id } = await harness.script([{ turn: [{ say: 'I have a plan' }] }, { park }, ...then])
  await harness.until(id, 'paused-by-agent')
  return id
}

const resume = (taskId: string, more: object = {}): Promise<Loose> =>
  harness.result('tasks/resume', { taskId, ...more })

const controlOf = async (id: string): Promise<Loose> => (await harness.get(id)).metadata[CONTROL]

/** What the task showed of this, each time it did. */
function echoed(task: Loose, what: string): readonly Loose[] {
  return task.artifacts
    .filter(({ name }: Loose) => name === `echo-${what}`)
    .map(({ parts: [{ data }] }: Loose) => data.value ?? data)
}

const bodies = (reminders: readonly Loose[]): string => reminders.map(({ body }) => body).join('\n')

describe('suspend_midloop_basic', () => {
  it('parked, paused again, resumed without input: the task completes with its transcript (Lull refuses the second pause; a hold stops a parked task)', async () => {
    const id = await parked({ reason: 'ci' }, [{ echo: 'reminders' }, { echo: 'transcript' }])
    const before = await harness.get(id)
    const error = await harness.error('tasks/pause', { taskId: id, reason: 'again' })
    expect(error).toMatchObject({ code: -32011, data: { state: 'paused-by-agent' } })
    expect(await harness.get(id)).toEqual(before)
    expect((await resume(id)).state).toBe('working')
    const done = await harness.until(id, 'completed')
    expect(JSON.stringify(echoed(done, 'transcript'))).toContain('I have a plan')
    expect((await harness.result('tasks/list_reminders', { taskId: id })).reminders).toEqual([])
  })

  it('a pause of a pause reports the first one unchanged', async () => {
    const { id } = await harness.script(busy)
    await harness.until(id, 'working')
    const first = await harness.result('tasks/pause', { taskId: id, reason: 'first' })
    const second = await harness.result('tasks/pause', { taskId: id, reason: 'second' })
    expect(second).toEqual(first)
    expect((await controlOf(id)).reason).toBe('first')
  })
})

describe('suspend_self_park_open', () => {
  it('has a reason, an initiator and nothing that would wake it; a bare resume completes it', async () => {
    const id = await parked({ reason: 'waiting for a decision' }, [{ complete: 'decided' }])
    const { initiator, reason, conditions, deadlineAt } = await controlOf(id)
    expect([initiator, reason, conditions]).toEqual(['agent', 'waiting for a decision', undefined])
    expect(deadlineAt).toBeUndefined()
    await resume(id)
    await harness.until(id, 'completed')
  })
})

describe('suspend_self_park_with_input', () => {
  it('tells the next turn why it stopped, when, and what came with the resume, and the turn after that nothing', async () => {
    const park = { reason: 'which branch?' }
    const id = await parked(park, [{ echo: 'reminders' }, { echo: 'reminders' }, { echo: 'input' }])
    const { pausedAt } = await controlOf(id)
    await resume(id, { input: 'the main one' })
    const done = await harness.until(id, 'completed')
    const [next, after] = echoed(done, 'reminders')
    for (const told of ['which branch?', 'the main one', pausedAt]) {
      expect(bodies(next)).toContain(told)
    }
    expect(after).toEqual([])
    expect(echoed(done, 'input')).toEqual(['the main one'])
  })
})

describe('suspend_conditioned_trigger', () => {
  it('shows its conditions as they were given, and goes on when the trigger fires', async () => {
    const conditions = { trigger: { filter: { exact: { type: 'ci.done', 'data.build': 7 } } } }
    const id = await parked({ reason: 'ci', conditions }, [{ complete: 'built' }])
    expect((await controlOf(id)).conditions).toEqual(conditions)
    await harness.emit({ type: 'ci.done', data: { build: 6 } })
    expect((await harness.get(id)).status.state).toBe('paused-by-agent')
    await harness.emit({ type: 'ci.done', data: { build: 7 } })
    await harness.until(id, 'completed')
  })
})

describe('agent_auto_resume_trigger', () => {
  it('gives the payload to the task (in Lull as the event of the wake, beside the input)', async () => {
    const conditions = { onEvent: 'webhook.received' }
    const id = await parked({ reason: 'webhook', conditions }, [{ echo: 'wake' }])
    await harness.emit({ type: 'webhook.received', data: { pull: 1234 } })
    const [wake] = echoed(await harness.until(id, 'completed'), 'wake')
    expect(wake).toMatchObject({
      cause: 'condition_fired',
      input: null,
      event: { data: { pull: 1234 } },
    })
  })
})

describe('suspend_timeout_resume_with_summary', () => {
  it('goes on by itself, with a digest in place of the transcript', async () => {
    const conditions = { onEvent: 'never', timeout: { durationMinutes: SOON } }
    const park = { park: { reason: 'approval', conditions } }
    const { id } = await harness.script([
      { turn: [{ say: 'I have a plan' }] },
      park,
      { echo: 'wake' },
      { echo: 'transcript' },
    ])
    const done = await harness.until(id, 'completed')
    expect(echoed(done, 'wake')).toMatchObject([{ cause: 'timeout', continueTranscript: false }])
    expect(echoed(done, 'transcript')[0]).toMatchObject([{ role: 'digest' }])
  })
})

describe('suspend_timeout_fail', () => {
  it('fails, says which deadline passed, and cannot be resumed', async () => {
    const timeout = { durationMinutes: SOON, onTimeout: 'fail' }
    const park = { reason: 'approval', conditions: { onEvent: 'never', timeout } }
    const { id } = await harness.script([{ park }])
    const { status } = await harness.until(id, 'failed')
    expect(JSON.stringify(status.message)).toMatch(/deadline \S+Z passed \(approval\)/)
    const error = await harness.error('tasks/resume', { taskId: id })
    expect(error).toMatchObject({ code: -32011, data: { state: 'failed' } })
  })
})

describe('suspend_nested', () => {
  it('two parked tasks have handles of their own, and resuming one leaves the other', async () => {
    const [a, b] = [await parked({ reason: 'a' }), await parked({ reason: 'b' })]
    expect((await controlOf(a)).handle).not.toBe((await controlOf(b)).handle)
    await resume(a)
    await harness.until(a, 'completed')
    expect((await harness.get(b)).status.state).toBe('paused-by-agent')
    await resume(b)
    await harness.until(b, 'completed')
  })
})

describe('suspend_continue_transcript_false', () => {
  it.each([
    [true, ['I have a plan'], 'keep it'],
    [false, [], 'start anew'],
  ])('continueTranscript %s', async (continueTranscript, words, input) => {
    const id = await parked({ reason: 'r' }, [
      { turn: [{ echo: 'transcript' }] },
      { echo: 'input' },
    ])
    await resume(id, { continueTranscript, input })
    const done = await harness.until(id, 'completed')
    const [transcript] = echoed(done, 'transcript')
    const said = transcript.filter(({ role }: Loose) => role === 'agent')
    expect(said.map(({ content }: Loose) => content)).toEqual(words)
    expect(transcript.some(({ role }: Loose) => role === 'digest')).toBe(!continueTranscript)
    expect(echoed(done, 'input')).toEqual([input])
  })
})

describe('suspend_close_while_suspended', () => {
  it('is closed for good, closing it again changes nothing, and no condition brings it back', async () => {
    const conditions = { onEvent: 'too.late', timeout: { durationMinutes: 5 } }
    const id = await parked({ reason: 'r', conditions })
    expect((await harness.result('tasks/cancel', { id })).status.state).toBe('canceled')
    const closed = await harness.get(id)
    expect((await harness.error('tasks/resume', { taskId: id })).code).toBe(-32011)
    expect((await harness.error('tasks/cancel', { id })).code).toBe(-32002)
    await harness.emit({ type: 'too.late' })
    expect(await harness.get(id)).toEqual(closed)
  })
})

describe('suspend_double_resume_race', () => {
  it('the first wins and completes; the second is told it is not suspended, and who was first', async () => {
    const id = await parked({ reason: 'r' }, [{ step: 'pay' }])
    const answers = await Promise.all(
      [1, 2, 3].map(() => harness.call('tasks/resume', { taskId: id })),
    )
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1)
    const lost = answers.flatMap(({ error }) => (error === undefined ? [] : [error]))
    expect(lost).toHaveLength(2)
    for (const { code, data } of lost) {
      expect([code, data.reason, data.cause]).toEqual([
        -32011,
        'TASK_NOT_PAUSED',
        'explicit_resume',
      ])
    }
    await harness.until(id, 'completed')
    expect(ran(id)).toEqual([`begin ${id} pay`, `end ${id} pay`])
  })
})

describe('suspend_daemon_step_parity', () => {
  it('a park shows the same facts, whether the agent or a worker asked for it (Lull has no daemons)', async () => {
    const park = { reason: 'r', summary: 's', conditions: { onEvent: 'e' } }
    const inside = await parked(park)
    const { id: outside } = await harness.script(busy)
    await harness.until(outside, 'working')
    await harness.result('tasks/await_resumption', { taskId: outside, ...park })
    const facts = async (id: string): Promise<object> => {
      const { handle: _handle, pausedAt: _at, ...rest } = await controlOf(id)
      return rest
    }
    expect(await facts(outside)).toEqual(await facts(inside))
  })
})

describe('agent_await_resumption', () => {
  it('accepts a timeout alone and shows it (Lull also wakes by it)', async () => {
    const conditions = { timeout: { durationMinutes: SOON, onTimeout: 'resume_with_input' } }
    const { id } = await harness.script(busy)
    await harness.until(id, 'working')
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    await harness.result('tasks/await_resumption', { taskId: id, reason: 'idle', conditions })
    const told: Loose[] = []
    for await (const { result } of frames) {
      told.push(result.metadata[CONTROL])
      if (told.at(-1).cause !== undefined) break
    }
    const [stopped, woken] = told.filter(({ pausing }) => !pausing)
    expect(stopped).toMatchObject({ state: 'paused-by-agent', initiator: 'agent', conditions })
    expect(woken).toMatchObject({ state: 'active', cause: 'timeout', hadResumeInput: true })
  })
})

describe('agent_await_resumption_invalid_feedback', () => {
  it('tells the agent which field is wrong, and the run goes on and ends normally', async () => {
    const { artifacts, status } = await harness.say('park', {}, 'careless')
    expect(status.state).toBe('completed')
    expect(artifacts[0].parts[0].data).toEqual({ path: 'conditions.trigger' })
  })

  it('tells a worker outside the same, and leaves the task alone', async () => {
    const { id } = await harness.script(busy)
    await harness.until(id, 'working')
    const conditions = { trigger: 'build 1234' }
    const error = await harness.error('tasks/await_resumption', {
      taskId: id,
      reason: 'ci',
      conditions,
    })
    expect(error).toMatchObject({ code: -32602, data: { path: 'conditions.trigger' } })
    expect((await harness.get(id)).status.state).toBe('working')
  })
})

describe('agent_await_resumption_transcript_integrity', () => {
  it('a stop amid a batch of calls that is then left leaves none of them without a result', async () => {
    const tools = [{ name: 'slow', ms: 60_000 }, { name: 'sibling' }]
    const { id } = await harness.script([{ turn: [{ tools }] }, { echo: 'transcript' }])
    await expect.poll(() => ran(id)).toContain(`begin ${id} slow`)
    const reminder = { body: 'Leave it.', mode: 'interrupt_immediate' }
    await harness.result('tasks/inject_reminder', { taskId: id, reminder })
    await harness.result('tasks/pause', { taskId: id, mode: 'interrupt_immediate' })
    await resume(id)
    const done = await harness.until(id, 'completed')
    const calls = echoed(done, 'transcript')[0].filter(({ role }: Loose) => role === 'tool')
    expect(calls.map(({ content }: Loose) => content)).toEqual([
      { name: 'slow', status: 'skipped' },
      { name: 'sibling', status: 'skipped' },
    ])
    expect(ran(id)).toEqual([`begin ${id} slow`, `abort ${id} slow`])
  })
})

describe('agent_daemon_await_resumption', () => {
  it('an idle agent parks with a timeout and wakes with its input, repeatedly (in place of a daemon)', async () => {
    const timeout = { durationMinutes: SOON, onTimeout: 'resume_with_input', input: 'tick' }
    const idle = [{ park: { reason: 'idle', conditions: { timeout } } }, { echo: 'input' }]
    const { id } = await harness.script([{ repeat: 3, ops: idle }])
    const done = await harness.until(id, 'completed')
    expect(echoed(done, 'input')).toEqual(['tick', 'tick', 'tick'])
  })
})

describe('agent_lifecycle_tools', () => {
  it('every agent can be paused and can park unless it says otherwise (Lull declares it on the card and offers no tool to models)', async () => {
    const { capabilities } = await harness.card('careless')
    expect(capabilities).toMatchObject({ supportsPause: true, supportsAwaitResumption: true })
    expect((await harness.card('plain')).capabilities).not.toHaveProperty('supportsPause')
  })
})

describe('agent_resume_continuity_reminder', () => {
  it('names the turn, the reason, who resumed and the input once, and nothing of it is left in the transcript', async () => {
    const then = [{ echo: 'reminders' }, { echo: 'reminders' }, { echo: 'transcript' }]
    const id = await parked({ reason: 'lunch break' }, then)
    await resume(id, { input: { fed: true } })
    const done = await harness.until(id, 'completed')
    const [next, after] = echoed(done, 'reminders')
    for (const told of [
      'after turn 1',
      'lunch break',
      'explicit_resume by client',
      '{"fed":true}',
    ]) {
      expect(bodies(next)).toContain(told)
    }
    expect(after).toEqual([])
    expect(JSON.stringify(echoed(done, 'transcript'))).not.toContain('You were stopped')
  })
})

describe('resume_by', () => {
  it('without conditions only a caller wakes it, with conditions the server does (Lull needs no named waker)', async () => {
    const open = await parked({ reason: 'parent' })
    const armed = await parked({ reason: 'local', conditions: { onEvent: 'wake.up' } }, [
      { echo: 'wake' },
    ])
    await harness.emit({ type: 'wake.up' })
    const [wake] = echoed(await harness.until(armed, 'completed'), 'wake')
    expect(wake.resumedBy).toBeUndefined()
    expect((await harness.get(open)).status.state).toBe('paused-by-agent')
  })
})

describe('the smaller ones', () => {
  it('an explicit resume disarms what else would have woken it', async () => {
    const timeout = { durationMinutes: 0.03, onTimeout: 'fail' }
    const id = await parked({ reason: 'r', conditions: { timeout } }, busy)
    await resume(id)
    // Its deadline passes while another task waits for one that is later.
    const park = { reason: 'later', conditions: { timeout: { durationMinutes: 0.04 } } }
    const later = await harness.script([{ park }])
    await harness.until(later.id, 'completed')
    expect((await harness.get(id)).status.state).toBe('working')
  })

  it('a running task refuses a resume, an ended one both, an unknown one is not found', async () => {
    const { id } = await harness.script(busy)
    await harness.until(id, 'working')
    expect((await harness.error('tasks/resume', { taskId: id })).data.reason).toBe(
      'TASK_NOT_PAUSED',
    )
    await harness.result('tasks/cancel', { id })
    expect((await harness.error('tasks/pause', { taskId: id })).data.reason).toBe(
      'TASK_NOT_PAUSABLE',
    )
    expect((await harness.error('tasks/resume', { taskId: id })).data.reason).toBe(
      'TASK_NOT_PAUSED',
    )
    expect((await harness.error('tasks/resume', { taskId: 'worker_1' })).code).toBe(-32004)
  })

  it('a blank input is an input like any other (Lull accepts any JSON value but null)', async () => {
    const id = await parked({ reason: 'r' }, [{ echo: 'input' }])
    expect((await resume(id, { input: '' })).hadResumeInput).toBe(true)
    expect(echoed(await harness.until(id, 'completed'), 'input')).toEqual([''])
  })
})
