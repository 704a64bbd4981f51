import { describe, expect, it } from 'vitest'
import { isLullError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import {
  alice,
  bob,
  createHarness,
  type Harness,
  mallory,
  olga,
  running,
} from '../../engine/test-support/engine-harness.ts'
import { listWaiting } from './waiting.ts'

const at = '2030-01-01T00:00:00.000Z'

/** What each task waits for is what its message says. */
const waits: Readonly<Record<string, (task: AgentTask) => Promise<unknown>>> = {
  event: (task) =>
    task.park({
      reason: 'ci',
      summary: 'on build 7',
      onEvent: 'ci.done:7',
      timeout: { durationMinutes: 5 },
    }),
  instant: (task) =>
    task.park({ reason: 'new year', trigger: { at }, timeout: { durationMinutes: 5e6 } }),
  resume: (task) => task.park({ reason: 'told to' }),
  question: (task) => task.ask('Which one?', { expiresAt: Date.parse(at) }),
  consent: (task) => task.requireConsent({ prompt: 'Push?', operation: 'push' }),
  end: async () => undefined,
}

const waiter = running(async (task) => {
  await waits[task.text]?.(task)
})

async function harnessOf(...texts: readonly string[]): Promise<Harness> {
  const harness = await createHarness({ agents: [waiter] })
  for (const text of texts) {
    const { id } = await harness.send(text)
    await harness.settled()
    await harness.until(id, ({ state }) => state !== 'submitted' && state !== 'working')
    harness.clock.advance(1_000)
  }
  return harness
}

const request = { id: '', body: undefined, anyTenant: false, scopes: new Set<never>(), now: 0 }

const list = ({ engine }: Harness, query = '', caller = alice) =>
  listWaiting.handle(engine, caller, { ...request, query: new URLSearchParams(query) }) as Promise<{
    readonly tasks: readonly JsonObject[]
    readonly total: number
    readonly cursor?: string
  }>

describe('what waits', () => {
  it('is told with its conditions, since when, and when it falls due', async () => {
    const harness = await harnessOf('event', 'instant', 'resume', 'question', 'consent', 'end')
    const { tasks, total, cursor } = await list(harness)
    expect([total, cursor]).toEqual([5, undefined])
    const [consent, question, resume, instant, event] = tasks
    const since = expect.stringMatching(/^\d{4}-.*Z$/)
    const handle = expect.stringMatching(/^suspend-/)
    expect(consent).toMatchObject({ state: 'user-consent-required', prompt: 'Push?', since })
    expect(consent).not.toHaveProperty('dueAt')
    expect(question).toMatchObject({ state: 'input-required', prompt: 'Which one?', dueAt: at })
    expect(resume).toMatchObject({ state: 'paused-by-agent', reason: 'told to', conditions: null })
    expect(resume).not.toHaveProperty('dueAt')
    expect(instant).toMatchObject({ dueAt: at, conditions: { trigger: { at } } })
    const deadlineAt = new Date(Date.parse(String(event?.['since'])) + 300_000).toISOString()
    expect(event).toEqual({
      taskId: expect.any(String),
      agent: 'worker',
      contextId: expect.any(String),
      state: 'paused-by-agent',
      held: false,
      since,
      initiator: 'agent',
      handle,
      reason: 'ci',
      summary: 'on build 7',
      conditions: { onEvent: 'ci.done:7', timeout: { durationMinutes: 5 } },
      deadlineAt,
      dueAt: deadlineAt,
    })
  })

  it('is gone once it goes on', async () => {
    const harness = await harnessOf('event')
    await harness.emit('ci.done', { subject: '7' })
    expect(await list(harness)).toEqual({ tasks: [], total: 0 })
  })

  it('is told page by page', async () => {
    const harness = await harnessOf('event', 'resume', 'question')
    const seen: unknown[] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const page = await list(harness, `limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect([page.tasks.length, page.total]).toEqual([1, 3])
      seen.push(page.tasks[0]?.['taskId'])
      cursor = page.cursor
    }
    expect(new Set(seen).size).toBe(3)
  })

  it('can be narrowed by state, agent and context', async () => {
    const harness = await harnessOf('event', 'resume', 'question')
    const states = async (query: string) =>
      (await list(harness, query)).tasks.map((task) => task['state'])
    expect(await states('state=input-required')).toEqual(['input-required'])
    const both = 'state=input-required&state=paused-by-agent'
    expect(await states(both)).toEqual(['input-required', 'paused-by-agent', 'paused-by-agent'])
    expect(await states('agent=nobody')).toEqual([])
    const [first] = (await list(harness)).tasks
    expect(await states(`contextId=${first?.['contextId']}`)).toEqual(['input-required'])
  })

  it('says who is held', async () => {
    const harness = await harnessOf('event')
    await harness.engine.hold(olga, { scope: { tenant: 'acme' }, reason: 'stop' })
    expect((await list(harness)).tasks).toMatchObject([{ held: true }])
  })

  it('is told to who may see it, and to nobody else', async () => {
    const harness = await harnessOf('event')
    for (const other of [bob, mallory]) {
      expect(await list(harness, '', other)).toEqual({ tasks: [], total: 0 })
    }
    expect((await list(harness, '', olga)).total).toBe(1)
  })

  it.each([
    ['state=asleep', 'state'],
    ['state=working', 'state'],
    ['state=', 'state'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=many', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['agent=', 'agent'],
    [`contextId=${'x'.repeat(300)}`, 'contextId'],
    ['agent=a&agent=b', 'agent'],
    ['principal=bob', 'principal'],
    ['__proto__=x', '__proto__'],
  ])('refuses %s by name', async (query, path) => {
    const harness = await createHarness()
    const refused = await list(harness, query).catch((error: unknown) => error)
    expect(isLullError(refused, 'INVALID_INPUT') && refused.details.path).toBe(path)
  })
})
