import { type Changes, RESERVED_MS } from '../../ports/store/cluster.ts'
import { creation, sampleClaim, sampleHold, sampleRow, step } from '../sample-task.ts'
import { clusterEvents } from './cluster-events.ts'
import { type Subject, two } from './subject.ts'
import { dueIds, readyIds } from './work.ts'

const LEASE_MS = 15_000

export function cluster(subject: Subject): void {
  leases(subject)
  duties(subject)
  reservations(subject)
  clusterEvents(subject)
  holds(subject)
  changes(subject)
}

function leases(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps the lease of a worker that beats, and ends it for good when it ran out', async () => {
    const { a, b, pass } = await two(subject)
    const { now } = await a.cluster.registerWorker({ id: 'w1', agents: ['tax'] }, LEASE_MS)
    const [registered] = await b.cluster.workers()
    const lease = { leaseUntil: registered?.leaseUntil }
    expect(registered).toEqual({ id: 'w1', agents: ['tax'], alive: true, note: null, ...lease })
    expect(Math.abs((registered?.leaseUntil ?? 0) - now - LEASE_MS) < 1_000).toBe(true)
    await pass(LEASE_MS - 5_000)
    const beat = await a.cluster.heartbeat('w1', LEASE_MS, { done: 7 })
    expect((beat?.now ?? 0) - now > LEASE_MS - 6_000).toBe(true)
    await pass(LEASE_MS - 5_000)
    const [kept] = await b.cluster.workers()
    expect([kept?.alive, kept?.note]).toEqual([true, { done: 7 }])
    await pass(6_000)
    expect((await b.cluster.workers())[0]?.alive).toBe(false)
    expect(await a.cluster.heartbeat('w1', LEASE_MS, null)).toBeUndefined()
    expect((await b.cluster.workers())[0]?.alive).toBe(false)
    expect(await a.cluster.heartbeat('nobody', LEASE_MS, null)).toBeUndefined()
  })

  it('lists a task as orphaned when its owner has no lease, with the name of the owner', async () => {
    const { a, b, pass } = await two(subject)
    await a.cluster.registerWorker({ id: 'w1', agents: [] }, LEASE_MS)
    await b.cluster.registerWorker({ id: 'w2', agents: [] }, 2 * LEASE_MS)
    const of = (taskId: string, owner: string) => ({ taskId, owner, tenant: 'acme' })
    await a.commit([
      creation('task-1', { owner: 'w1' }),
      creation('task-2', { owner: 'w2' }),
      creation('task-3'),
    ])
    expect(await b.orphans('w2', 9)).toEqual([])
    await pass(LEASE_MS + 1_000)
    expect(await b.orphans('w2', 9, ['tax'])).toEqual([])
    expect(await b.orphans('w2', 9, ['tax', 'travel'])).toEqual([of('task-1', 'w1')])
    expect(await a.orphans('w1', 9)).toEqual([])
    await b.cluster.removeWorker('w2')
    expect(await a.orphans('w1', 9)).toEqual([of('task-2', 'w2')])
    expect((await a.cluster.workers()).map(({ id }) => id)).toEqual(['w1'])
  })
}

function duties(subject: Subject): void {
  const { it, expect } = subject.kit
  it('gives a duty to one process until its time has passed', async () => {
    const { a, b, pass } = await two(subject)
    expect(await a.cluster.takeDuty('retention', 'w1', 60_000)).toBe(true)
    expect(await b.cluster.takeDuty('retention', 'w2', 60_000)).toBe(false)
    expect(await b.cluster.takeDuty('other', 'w2', 60_000)).toBe(true)
    await pass(50_000)
    expect(await a.cluster.takeDuty('retention', 'w1', 60_000)).toBe(true)
    await pass(50_000)
    expect(await b.cluster.takeDuty('retention', 'w2', 60_000)).toBe(false)
    await pass(11_000)
    const both = await Promise.all([
      a.cluster.takeDuty('retention', 'w1', 60_000),
      b.cluster.takeDuty('retention', 'w2', 60_000),
    ])
    expect(both.filter(Boolean)).toHaveLength(1)
  })

  it('lets another process take a duty that was given back', async () => {
    const { a, b } = await two(subject)
    expect(await a.cluster.takeDuty('receive', 'w1', 60_000)).toBe(true)
    expect(await b.cluster.takeDuty('receive', 'w2', 0)).toBe(false)
    expect(await b.cluster.takeDuty('receive', 'w2', 60_000)).toBe(false)
    expect(await a.cluster.takeDuty('receive', 'w1', 0)).toBe(true)
    expect(await b.cluster.takeDuty('receive', 'w2', 60_000)).toBe(true)
  })

  it('removes duties whose time has passed, up to a number, and no other', async () => {
    const { a, b, pass } = await two(subject)
    for (const name of ['1', '2', '3']) await a.cluster.takeDuty(name, 'w1', 10_000)
    await a.cluster.takeDuty('4', 'w1', 60_000)
    expect(await b.cluster.pruneDuties(9)).toBe(0)
    await pass(11_000)
    expect(await b.cluster.pruneDuties(2)).toBe(2)
    expect(await b.cluster.pruneDuties(2)).toBe(1)
    expect(await b.cluster.takeDuty('1', 'w2', 60_000)).toBe(true)
    expect(await b.cluster.takeDuty('4', 'w2', 60_000)).toBe(false)
  })

  it('gives back no duty that ran out and that another process has', async () => {
    const { a, b, pass } = await two(subject)
    expect(await a.cluster.takeDuty('receive', 'w1', 0)).toBe(false)
    expect(await a.cluster.takeDuty('receive', 'w1', 10_000)).toBe(true)
    await pass(11_000)
    expect(await b.cluster.takeDuty('receive', 'w2', 0)).toBe(false)
    expect(await b.cluster.takeDuty('receive', 'w2', 60_000)).toBe(true)
    expect(await a.cluster.takeDuty('receive', 'w1', 0)).toBe(false)
    expect(await a.cluster.takeDuty('receive', 'w1', 60_000)).toBe(false)
  })
}

function reservations(subject: Subject): void {
  const { it, expect } = subject.kit
  it('hands out a ready task once, until it is written or its reservation has passed', async () => {
    const { a, b, pass } = await two(subject)
    await a.commit([creation('task-1', { readyAt: 10 }), creation('task-2', { readyAt: 20 })])
    expect(await readyIds(a, 'travel', 1)).toEqual(['task-1'])
    expect(await readyIds(b, 'travel', 9)).toEqual(['task-2'])
    expect(await readyIds(a, 'travel', 9)).toEqual([])
    await b.commit([step('task-2', 2, { row: sampleRow('task-2', { readyAt: 30 }) })])
    expect(await readyIds(a, 'travel', 9)).toEqual(['task-2'])
    await pass(RESERVED_MS)
    expect(await readyIds(b, 'travel', 9)).toEqual(['task-1', 'task-2'])
  })

  it('hands out a due task once, until it is written or its reservation has passed', async () => {
    const { a, b, pass } = await two(subject)
    await a.commit([creation('task-1', { dueAt: 10 }), creation('task-2', { dueAt: 20 })])
    expect(await dueIds(a, 100, 1)).toEqual(['task-1'])
    expect(await dueIds(b, 100, 9)).toEqual(['task-2'])
    expect(await dueIds(b, 100, 9)).toEqual([])
    await pass(RESERVED_MS)
    expect(await dueIds(b, 15, 9)).toEqual(['task-1'])
  })

  it('hands out no task before the clock of the store has reached its instant, whatever a process believes', async () => {
    const { a, b, pass } = await two(subject)
    const { now } = await a.cluster.registerWorker({ id: 'w1', agents: [] }, 60_000)
    await a.commit([creation('task-1', { dueAt: now + 60_000 })])
    expect(await b.due(now + 3_600_000, 9)).toEqual([])
    await pass(60_000)
    expect(await b.due(now + 3_600_000, 9)).toEqual([{ taskId: 'task-1', tenant: 'acme' }])
  })

  it('writes a message under a key once, also when two processes bring it', async () => {
    const { a, b } = await two(subject)
    const claim = sampleClaim('task-1')
    await a.commit([creation('task-1')])
    const [[first], [second]] = await Promise.all([
      a.commit([step('task-1', 2, { claim })]),
      b.commit([step('task-1', 2, { claim })]),
    ])
    const results = [first, second].map((one) => one?.status).sort()
    expect(results).toEqual(['claimed', 'written'])
    expect(await a.records('acme', 'task-1', 0, 9)).toHaveLength(3)
  })

  it('tells the versions of tasks in the order of the question', async () => {
    const { a, b } = await two(subject)
    await a.commit([creation('task-1'), creation('task-2')])
    await a.commit([step('task-2', 2)])
    const asked = ['task-2', 'task-9', 'task-1', 'task-2'].map((id) => ({ tenant: 'acme', id }))
    expect(await b.cluster.versions(asked)).toEqual([3, 0, 2, 3])
    expect(await b.cluster.versions([{ tenant: 'other', id: 'task-1' }])).toEqual([0])
    expect(await b.cluster.versions([])).toEqual([])
  })
}

function holds(subject: Subject): void {
  const { it, expect } = subject.kit
  it('refuses a commit that was decided before the holds changed', async () => {
    const { a, b } = await two(subject)
    const { epoch, holds: none } = await b.cluster.holdsInEffect()
    expect(none).toEqual([])
    const claim = sampleClaim('task-2')
    expect(await b.commit([creation('task-1', {}, { holdEpoch: epoch })])).toEqual([
      { status: 'written' },
    ])
    await a.putHold(sampleHold('hold-1'))
    expect(await b.commit([creation('task-2', {}, { holdEpoch: epoch, claim })])).toEqual([
      { status: 'outdated' },
    ])
    expect(await b.load('acme', 'task-2')).toBeUndefined()
    expect(await b.findClaim(claim)).toBeUndefined()
    const now = await b.cluster.holdsInEffect()
    expect(now.holds).toEqual([sampleHold('hold-1')])
    expect(now.epoch).toBeGreaterThan(epoch)
    expect(await b.commit([creation('task-2', {}, { holdEpoch: now.epoch })])).toEqual([
      { status: 'written' },
    ])
    await a.putHold(sampleHold('hold-1', { liftedAt: 9 }))
    const lifted = await b.cluster.holdsInEffect()
    expect(lifted.epoch).toBeGreaterThan(now.epoch)
    expect(await a.cluster.nextHoldEpoch()).toBeGreaterThan(lifted.epoch)
    const { epoch: last } = await b.cluster.holdsInEffect()
    expect(last).toBeGreaterThan(lifted.epoch)
    const beat = await b.cluster.registerWorker({ id: 'w1', agents: [] }, LEASE_MS)
    expect(beat.holdEpoch).toBe(last)
    // The epoch check does not affect a commit without a hold epoch.
    expect(await b.commit([step('task-2', 2)])).toEqual([{ status: 'written' }])
  })

  it('writes a hold at an epoch once, and not after the holds have changed', async () => {
    const { a, b } = await two(subject)
    const { epoch } = await b.cluster.holdsInEffect()
    const ids = ['hold-1', 'hold-2', 'hold-3', 'hold-4']
    const put = (id: string, index: number): Promise<boolean> =>
      (index % 2 === 0 ? a : b).cluster.putHoldAt(sampleHold(id), epoch)
    const written = await Promise.all(ids.map(put))
    expect(written.filter(Boolean)).toHaveLength(1)
    const now = await a.cluster.holdsInEffect()
    expect(now.holds).toEqual([sampleHold(ids[written.indexOf(true)] ?? '')])
    expect(now.epoch).toBeGreaterThan(epoch)
    // The holds of this epoch were lifted, so the hold is not placed again.
    for (const placed of now.holds) {
      await a.putHold({ ...placed, liftedAt: 9 })
      expect(await b.cluster.putHoldAt(placed, now.epoch)).toBe(false)
    }
    expect((await b.cluster.holdsInEffect()).holds).toEqual([])
  })

  it('shows every commit that was not refused to a reader that comes after the hold', async () => {
    const { a, b } = await two(subject)
    const { epoch } = await b.cluster.holdsInEffect()
    const creating = Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        b.commit([creation(`task-${index}`, {}, { holdEpoch: epoch })]),
      ),
    )
    await a.putHold(sampleHold('hold-1', { holdNew: true }))
    const visible = await a.openTasks({ limit: 99 })
    const written = (await creating).filter(([one]) => one?.status === 'written')
    expect(visible).toHaveLength(written.length)
  })
}

function changes(subject: Subject): void {
  const { it, expect } = subject.kit
  it('reports what another process wrote, and nothing of its own', async () => {
    const { a, b } = await two(subject)
    const heard: Changes[] = []
    const own: Changes[] = []
    const told = new Promise<void>((resolve) => {
      b.cluster.onChanges((changes) => {
        heard.push(changes)
        const tasks = heard.flatMap((one) => one.tasks ?? [])
        const everything = heard.some((one) => one.everything)
        if (everything || tasks.some(({ version }) => version === 3)) resolve()
      })
    })
    a.cluster.onChanges((changes) => {
      own.push(changes)
    })
    await a.commit([creation('task-1', { readyAt: 10 })])
    await a.commit([step('task-1', 2)])
    await told
    if (heard.some((one) => one.everything)) return
    expect(heard.flatMap((one) => one.tasks ?? []).at(-1)).toEqual({ id: 'task-1', version: 3 })
    expect(heard.flatMap((one) => one.readyAgents ?? [])).toContain('travel')
    expect(own.flatMap((one) => one.tasks ?? [])).toEqual([])
  })
}
