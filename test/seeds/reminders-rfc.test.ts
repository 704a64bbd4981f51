/** The reminders RFC (A2A): its examples as tests, request and answer, with the script agent behind a real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../../src/index.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { examplesOf, headingsOf, type Loose } from './examples.ts'
import { type Harness, NOTIFICATIONS, openHarness, readUntil } from './harness.ts'
import { createNames, differences } from './match.ts'

const FILE = 'reminders-rfc.md'
const example = examplesOf(FILE)
const request = example('tasks/inject_reminder request')
const TASK = request.params.taskId
const REMINDER = request.params.reminder

const rebase = agent({
  name: 'rebase-worker',
  description: 'Rebases a branch and waits for CI',
  skills: [{ id: 'rebase', name: 'Rebase', description: 'Rebases a branch', tags: ['git'] }],
  run: () => 'rebased',
})
const deaf = agent({ ...createScriptAgent({ name: 'deaf' }), reminders: false })

/** The steps of the agent `staged` end when this clock says so. */
const clock = createManualClock()
const LONG = 1_000
const begun: string[] = []
const effects = (line: string): void => {
  const [kind, taskId, name] = line.split(' ')
  if (kind === 'begin') begun.push(`${taskId} ${name}`)
}

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({
    agents: [
      createScriptAgent(),
      rebase,
      deaf,
      createScriptAgent({ name: 'staged', clock, effects }),
    ],
  })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

const park = { park: { reason: 'waiting' } }
const look = { turn: [{ echo: 'reminders' }] }

/** Stands still after four turns, with the turns that follow up to the test. */
async function afterFourTurns(then: readonly object[]): Promise<Loose> {
  const before = { repeat: 4, ops: [{ turn: [{ say: 'thinking' }] }] }
  const { id } = await harness.script([before, park, ...then])
  return harness.until(id, 'paused-by-agent')
}

const inject = (taskId: string, reminder: object, more: object = {}): Promise<Loose> =>
  harness.result('tasks/inject_reminder', { taskId, reminder, ...more })

/** The reminders the nth look saw, without the one that says why the task was stopped. */
function seenBy(task: Loose, look = 0): readonly Loose[] {
  const { data } = task.artifacts[look].parts[0]
  const shown: readonly Loose[] = data.value ?? data
  return shown.filter(({ source }) => source !== 'lull')
}

it('has every example of the document in a test below', () => {
  expect(headingsOf(FILE)).toEqual([
    'tasks/inject_reminder request',
    'tasks/inject_reminder response',
    'tasks/reminderEmitted',
    'agent card',
  ])
})

describe('the life of the reminder of the document', () => {
  const names = createNames()
  let id: string
  let frames: AsyncGenerator<Loose, void>

  it('tasks/inject_reminder: the request and the response, one older reminder displaced', async () => {
    ;({ id } = await afterFourTurns([look, look, { ask: 'Anything else?' }]))
    names.bind(TASK, id)
    frames = harness.stream('tasks/resubscribe', { id }, NOTIFICATIONS)
    await frames.next()
    const older = { id: 'older', body: 'A PR is open.', dedupeKey: REMINDER.dedupeKey }
    expect(await inject(id, older)).toMatchObject({ reminderId: 'older', dedupedCount: 0 })
    const answer = await harness.post(names.ours(request))
    expect(differences(answer, example('tasks/inject_reminder response'), names)).toEqual([])
    expect(answer.result.reminderId).toBe(REMINDER.id)
  })

  it('tasks/reminderDeduped: who displaced whom', async () => {
    const { method, params } = (await readUntil(frames, (frame) => frame.method)).at(-1)
    expect(method).toBe('tasks/reminderDeduped')
    expect(params).toEqual({
      taskId: id,
      reminderId: REMINDER.id,
      dedupeKey: REMINDER.dedupeKey,
      displacedIds: ['older'],
    })
  })

  it('tasks/reminderEmitted: in the fifth turn, with the metadata it came with', async () => {
    await harness.result('tasks/resume', { taskId: id })
    const emitted = (await readUntil(frames, isAbout('tasks/reminderEmitted', REMINDER.id))).at(-1)
    const written = example('tasks/reminderEmitted')
    // The document shows none; ours come back to whoever correlates by them.
    written.params.metadata = request.params.metadata
    expect(differences(emitted, written, names)).toEqual([])
  })

  it('tasks/reminderExpired: after the two turns it was given', async () => {
    const expired = (await readUntil(frames, isAbout('tasks/reminderExpired', REMINDER.id))).at(-1)
    expect(expired.params).toEqual({ taskId: id, reminderId: REMINDER.id, reason: 'ttl' })
    await frames.return()
  })

  it('was shown in both turns, with its role hint, and is no message of anybody', async () => {
    const task = await harness.until(id, 'input-required')
    for (const turn of [0, 1]) {
      expect(seenBy(task, turn)).toMatchObject([
        { id: REMINDER.id, body: REMINDER.body, roleHint: 'system', tags: REMINDER.tags },
      ])
    }
    expect(JSON.stringify(task.history)).not.toContain(REMINDER.body)
  })
})

describe('reminders', () => {
  it('take effect in the next turn without stopping or waking the task', async () => {
    const { id } = await afterFourTurns([look])
    const body = 'The budget is nearly used up.'
    const { reminderId } = await inject(id, { body, roleHint: 'developer' })
    expect(reminderId).toEqual(expect.any(String))
    expect((await harness.get(id)).status.state).toBe('paused-by-agent')
    await harness.result('tasks/resume', { taskId: id })
    const done = await harness.until(id, 'completed')
    expect(seenBy(done)).toMatchObject([{ id: reminderId, body, roleHint: 'developer' }])
  })

  it('stay until the task ends where no ttl is given', async () => {
    const { id } = await afterFourTurns([look, look, look])
    await inject(id, { id: 'lasting', body: 'Mind the gap.' })
    const frames = harness.stream('tasks/resubscribe', { id }, NOTIFICATIONS)
    await frames.next()
    await harness.result('tasks/resume', { taskId: id })
    const expired = (await readUntil(frames, isAbout('tasks/reminderExpired', 'lasting'))).at(-1)
    expect(expired.params.reason).toBe('task_ended')
    await frames.return()
    const done = await harness.until(id, 'completed')
    expect([0, 1, 2].map((turn) => seenBy(done, turn).length)).toEqual([1, 1, 1])
  })

  it('are dropped by a compaction, and told, unless they are to be preserved', async () => {
    const { id } = await afterFourTurns([look, { compact: true }, look])
    await inject(id, { id: 'light', body: 'Forget me.' })
    await inject(id, { id: 'heavy', body: 'Keep me.', preserveOnCompact: true })
    const frames = harness.stream('tasks/resubscribe', { id }, NOTIFICATIONS)
    await frames.next()
    await harness.result('tasks/resume', { taskId: id })
    const expired = (await readUntil(frames, isAbout('tasks/reminderExpired', 'light'))).at(-1)
    expect(expired.params.reason).toBe('compaction')
    await frames.return()
    const done = await harness.until(id, 'completed')
    expect(seenBy(done, 1).map((one) => one.id)).toEqual(['heavy'])
  })

  it('are told on the stream of the message that began the task, under its old name too', async () => {
    const script = [{ turn: [{ say: 'thinking' }] }, park, look]
    const parts = [{ kind: 'data', data: { script } }]
    const message = { role: 'user', messageId: 'reminded', parts }
    const frames = harness.stream('tasks/sendSubscribe', { message }, NOTIFICATIONS)
    const isParked = ({ result }: Loose): boolean => result?.status?.state === 'paused-by-agent'
    const [first] = await readUntil(frames, isParked)
    const { id } = first.result
    await inject(id, { id: 'told', body: 'Mind the gap.' })
    await harness.result('tasks/resume', { taskId: id })
    const told = (await readUntil(frames, isAbout('tasks/reminderEmitted', 'told'))).at(-1)
    expect(told.params).toMatchObject({ taskId: id, reminder: { firedAtTurn: 2 } })
    await frames.return()
  })

  it('reach nobody who did not ask for their notifications', async () => {
    const { id } = await afterFourTurns([look])
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    await inject(id, { body: 'Psst.', dedupeKey: 'a' })
    await inject(id, { body: 'Psst again.', dedupeKey: 'a' })
    await harness.result('tasks/resume', { taskId: id })
    const seen: Loose[] = []
    for await (const frame of frames) seen.push(frame)
    expect(seen.every(({ method }) => method === undefined)).toBe(true)
    expect(seen.at(-1).result.status.state).toBe('completed')
  })
})

describe('the mode of a reminder', () => {
  /** A batch of two tools, a look in the same turn, and one in the next. */
  const script = [
    { turn: [{ tools: [{ name: 'one', ms: LONG }, { name: 'two' }] }, { echo: 'reminders' }] },
    look,
  ]

  /** Injected while the first tool runs: what each look saw, and which tools ran. */
  async function during(mode: string): Promise<{ seen: readonly string[][]; ran: string[] }> {
    const { id } = await harness.script(script, {}, 'staged')
    await expect.poll(() => begun).toContain(`${id} one`)
    await inject(id, { id: mode, body: 'Mind the gap.', mode })
    clock.advance(LONG)
    const done = await harness.until(id, 'completed')
    return {
      seen: [0, 1].map((look) => seenBy(done, look).map((one) => one.id)),
      ran: begun.filter((line) => line.startsWith(id)).map((line) => line.split(' ')[1] ?? ''),
    }
  }

  it('finish_step: shown after the running batch, within the turn', async () => {
    const { seen, ran } = await during('finish_step')
    expect(seen).toEqual([['finish_step'], ['finish_step']])
    expect(ran).toEqual(['one', 'two'])
  })

  it('interrupt_immediate: shown before the next tool, the rest of the batch is skipped', async () => {
    const { seen, ran } = await during('interrupt_immediate')
    expect(seen).toEqual([['interrupt_immediate'], ['interrupt_immediate']])
    expect(ran).toEqual(['one'])
  })

  it('wait_for_completion: shown in the next turn', async () => {
    const { seen, ran } = await during('wait_for_completion')
    expect(seen).toEqual([[], ['wait_for_completion']])
    expect(ran).toEqual(['one', 'two'])
  })
})

describe('the propagation of a reminder', () => {
  /** Who of parent, child and grandchild saw it. */
  const generations: readonly (readonly [string, readonly string[]])[] = [
    ['all', ['parent', 'child', 'grandchild']],
    ['session', ['parent', 'child']],
    ['none', ['parent']],
  ]

  it.each(generations)('%s: %j see it', async (propagate, expected) => {
    const tell = (who: string): object => ({ artifact: { name: who, text: who } })
    const grandchild = { script: [tell('grandchild'), look] }
    const child = { script: [tell('child'), look, { delegate: grandchild, wait: true }] }
    const { id, contextId } = await afterFourTurns([
      tell('parent'),
      look,
      { delegate: child, wait: true },
    ])
    await inject(id, { id: `to ${propagate}`, body: 'Mind the gap.', propagate })
    await harness.result('tasks/resume', { taskId: id })
    await harness.until(id, 'completed')
    const query = `contextId=${contextId}&includeArtifacts=true`
    const response = await fetch(`${harness.url}/tasks?${query}`)
    const { tasks } = (await response.json()) as Loose
    expect(tasks).toHaveLength(3)
    const saw = tasks.filter((task: Loose) => seenBy(task, 1).length > 0)
    const names = saw.map(({ artifacts }: Loose) => artifacts[0].name)
    expect(new Set(names)).toEqual(new Set(expected))
  })
})

describe('the agent card', () => {
  const written = example('agent card')

  it('advertises what the card of the document does, and one more way to propagate', async () => {
    const card = await harness.card(written.name)
    const { propagate, ...flags } = written.capabilities.reminders
    expect(card.name).toBe(written.name)
    expect(card.skills.map(({ id }: Loose) => id)).toEqual(written.skills)
    expect(card.capabilities.reminders).toMatchObject(flags)
    expect(card.capabilities.reminders.propagate).toEqual([...propagate, 'all'])
    expect(card.capabilities._meta.harn.reminders).toBe(true)
  })

  it('says nothing of them where an agent takes none, so that callers fall back', async () => {
    const { capabilities } = await harness.card('deaf')
    expect(capabilities).not.toHaveProperty('reminders')
    expect(JSON.stringify(capabilities)).not.toContain('urn:lull:a2a:reminders')
  })
})

describe('the errors of the document', () => {
  const body = 'Mind the gap.'
  const malformed: readonly (readonly [object, string])[] = [
    [{}, 'reminder.body'],
    [{ body: '   ' }, 'reminder.body'],
    [{ body: 7 }, 'reminder.body'],
    [{ body, propagate: 'workspace' }, 'reminder.propagate'],
    [{ body, roleHint: 'user' }, 'reminder.roleHint'],
    [{ body, mode: 'soon' }, 'reminder.mode'],
    [{ body, ttlTurns: 0 }, 'reminder.ttlTurns'],
    [{ body, firedAtTurn: -1 }, 'reminder.firedAtTurn'],
    [{ body, colour: 'red' }, 'reminder.colour'],
  ]

  it.each(malformed)('-32602: a malformed reminder %j', async (reminder, path) => {
    const error = await harness.error('tasks/inject_reminder', { taskId: TASK, reminder })
    expect(error).toMatchObject({ code: -32602, data: { path } })
  })

  it('-32602: no reminder at all, and no task', async () => {
    const nothing = await harness.error('tasks/inject_reminder', { taskId: TASK })
    expect(nothing).toMatchObject({ code: -32602, data: { path: 'reminder' } })
    const nowhere = await harness.error('tasks/inject_reminder', { reminder: { body } })
    expect(nowhere).toMatchObject({ code: -32602, data: { path: 'taskId' } })
  })

  it('-32004: an unknown task', async () => {
    const error = await harness.error('tasks/inject_reminder', { taskId: TASK, reminder: { body } })
    expect(error.code).toBe(-32004)
  })

  it('-32601: an agent that does not implement it', async () => {
    const task = await harness.say('echo this', {}, 'deaf')
    const params = { taskId: task.id, reminder: { body } }
    expect((await harness.error('tasks/inject_reminder', params)).code).toBe(-32601)
    expect((await harness.error('tasks/inject_reminder', params, 'deaf')).code).toBe(-32601)
  })

  it('-32011: a task that has ended, where the document is silent', async () => {
    const task = await harness.say('echo this')
    const params = { taskId: task.id, reminder: { body } }
    const error = await harness.error('tasks/inject_reminder', params)
    expect(error).toMatchObject({ code: -32011, data: { state: 'completed' } })
  })
})

function isAbout(method: string, reminderId: string): (frame: Loose) => boolean {
  return (frame) =>
    frame.method === method &&
    (frame.params.reminderId === reminderId || frame.params.reminder?.id === reminderId)
}
