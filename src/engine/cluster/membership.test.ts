import { expect, it } from 'vitest'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createMembership, type MembershipDeps } from './membership.ts'

type Cluster = MembershipDeps['cluster']

/** Heartbeats take `tripMs`, and the store reads its clock, which is a minute ahead, when they arrive. */
function member(some: Partial<Cluster> = {}) {
  const clock = createManualClock()
  const offsets: number[] = []
  let tripMs = 0
  const beat = async () => {
    const [now, ms] = [clock.now() + 60_000, tripMs]
    await undefined
    clock.advance(ms)
    return { now, holdEpoch: 0 }
  }
  const membership = createMembership({
    cluster: {
      registerWorker: beat,
      heartbeat: beat,
      removeWorker: async () => undefined,
      takeDuty: async () => true,
      ...some,
    },
    clock,
    ids: createCountingIds(),
    log: () => undefined,
    agents: () => ['a'],
    leaseMs: 15_000,
    blockedAfterMs: 30_000,
    note: () => ({}),
    suspect: () => undefined,
    setOffset: ({ least, most }) =>
      offsets.push((least + most) / 2 + clock.elapsed() - clock.now()),
    heardHolds: () => undefined,
    lost: () => undefined,
  })
  return {
    clock,
    offsets,
    membership,
    take(ms: number) {
      tripMs = ms
    },
  }
}

/** Answers arrive within a few microtasks. */
const answered = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('C3: an answer that comes after the lease may have been taken lets no waiting step begin', async () => {
  const { clock, membership, take } = member()
  await membership.start()
  clock.advance(20_000)
  let mayBegin = false
  const waiting = membership.whenLeased().then(() => {
    mayBegin = true
  })
  take(20_000)
  await membership.renew()
  await answered()
  expect(membership.holdsLease()).toBe(false)
  expect(mayBegin).toBe(false)
  take(0)
  await membership.renew()
  await waiting
  await membership.leave(true)
})

it('C3: a machine that slept has no lease until the store has answered, although no time seems to have passed', async () => {
  const { clock, membership } = member()
  await membership.start()
  clock.sleep(3_600_000)
  expect(membership.holdsLease()).toBe(false)
  await membership.renew()
  expect(membership.holdsLease()).toBe(true)
  await membership.leave(true)
})

it('C9: measures the clock of the store by heartbeats that are answered soon', async () => {
  const { offsets, membership } = member()
  await membership.start()
  expect(offsets.at(-1)).toBe(60_000)
  await membership.leave(true)
})

it('C9: keeps what it measured when a heartbeat was under way for long', async () => {
  const { clock, offsets, membership, take } = member()
  await membership.start()
  take(4_000)
  clock.advance(5_000)
  take(0)
  await answered()
  clock.advance(5_000)
  await answered()
  expect(offsets.length).toBeGreaterThan(2)
  // The store read its clock 4 s before the answer came. Only the drift of 5 s is added to what was known.
  for (const ms of offsets) expect(Math.abs(ms - 60_000)).toBeLessThan(10)
  await membership.leave(true)
})

it.each<['good' | 'gone', { now: number; holdEpoch: number } | undefined]>([
  ['good', { now: 0, holdEpoch: 0 }],
  ['gone', undefined],
])(
  'C4: a late answer that the lease of the former worker is %s changes nothing for the next',
  async (_, late) => {
    const good = { now: 0, holdEpoch: 0 }
    const pending = new Map<string, (beat: typeof good | undefined) => void>()
    let areHeld = false
    const ask = (name: string): Promise<typeof good | undefined> =>
      areHeld ? new Promise((resolve) => pending.set(name, resolve)) : Promise.resolve(good)
    const { membership } = member({
      registerWorker: async () => (await ask('register')) ?? good,
      heartbeat: (worker) => ask(worker),
    })
    await membership.start()
    const former = membership.worker()
    areHeld = true
    const renewed = membership.renew()
    const restarted = membership.restart()
    const next = membership.worker()
    pending.get(former)?.(late)
    expect(await renewed).toBe(true)
    expect(membership.holdsLease()).toBe(false)
    areHeld = false
    pending.get('register')?.(good)
    await restarted
    expect(membership.holdsLease()).toBe(true)
    expect(membership.worker()).toBe(next)
    expect(next).not.toBe(former)
    await membership.leave(true)
  },
)

it('C3: a restart while the process registers leaves the lease that it believes to have', async () => {
  const good = { now: 0, holdEpoch: 0 }
  const leases = new Set<string>()
  let answer = (): void => undefined
  let isSlow = false
  const { clock, membership } = member({
    async registerWorker({ id }) {
      leases.add(id)
      if (isSlow) await new Promise<void>((resolve) => (answer = resolve))
      return good
    },
    heartbeat: async (id) => (leases.has(id) ? good : undefined),
    removeWorker: async (id) => void leases.delete(id),
  })
  await membership.start()
  leases.clear()
  isSlow = true
  clock.advance(5_000)
  await answered()
  // The store tells that it has lost writes, while the process registers because its lease is gone.
  isSlow = false
  const restarted = membership.restart()
  answer()
  await restarted
  expect(membership.holdsLease()).toBe(true)
  expect([...leases]).toEqual([membership.worker()])
  await membership.leave(true)
})
