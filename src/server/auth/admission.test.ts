import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { type AdmissionLimits, createAdmission } from './admission.ts'
import { type Identity, noIdentity, owner } from './identity.ts'

const ada: Identity = { tenant: 'acme', principal: 'ada', scopes: new Set(), credentialId: 'k1' }
const limits: AdmissionLimits = {
  requestsPerSecond: 100,
  requestsOpen: 3,
  bytesInFlight: 1,
  tenantFactor: 2,
}

function admission(some: Partial<AdmissionLimits> = {}) {
  const clock = createManualClock()
  const revoked = new Set<string>()
  const stillValid = async (id: string): Promise<boolean> => !revoked.has(id)
  return { clock, revoked, ...createAdmission({ clock, stillValid }, { ...limits, ...some }) }
}

const nothing = (): void => undefined

describe('L1: a caller', () => {
  it('has at most so many requests open, and another one when one has ended', () => {
    const { enter } = admission()
    const leave = [1, 2, 3].map(() => enter(ada, nothing))
    expect(enter(ada, nothing)).toEqual({ limit: 'requestsOpen of the principal', value: 3 })
    const first = leave[0]
    if (typeof first === 'function') {
      first()
      first()
    }
    expect(enter(ada, nothing)).toBeTypeOf('function')
    expect(enter(ada, nothing)).toMatchObject({ value: 3 })
  })

  it('begins at most so many in a second, after a burst', () => {
    const { enter, clock } = admission({ requestsPerSecond: 2, requestsOpen: 1_000 })
    for (let n = 0; n < 4; n++) expect(enter(ada, nothing)).toBeTypeOf('function')
    const refused = { limit: 'requestsPerSecond of the principal', value: 2, waitMs: 500 }
    expect(enter(ada, nothing)).toEqual(refused)
    clock.advance(500)
    expect(enter(ada, nothing)).toBeTypeOf('function')
    expect(enter(ada, nothing)).toEqual(refused)
  })

  it('takes what is over at once beside what is open, and not faster than requests', () => {
    const { enter, take, clock } = admission({ requestsPerSecond: 2, requestsOpen: 1 })
    expect(enter(ada, nothing)).toBeTypeOf('function')
    for (let n = 0; n < 3; n++) expect(take(ada)).toBeUndefined()
    expect(take(ada)).toMatchObject({ waitMs: 500 })
    clock.advance(500)
    expect(take(ada)).toBeUndefined()
    expect(enter(ada, nothing)).toEqual({ limit: 'requestsOpen of the principal', value: 1 })
    expect(take(owner)).toBeUndefined()
  })

  it('shares the limits of its tenant, and leaves those of other tenants alone', () => {
    const { enter } = admission()
    for (const principal of ['a', 'b']) {
      for (let n = 0; n < 3; n++) enter({ ...ada, principal }, nothing)
    }
    expect(enter({ ...ada, principal: 'c' }, nothing)).toEqual({
      limit: 'requestsOpen of the tenant',
      value: 6,
    })
    expect(enter({ ...ada, tenant: 'other' }, nothing)).toBeTypeOf('function')
  })

  it('L3: is not held up by strangers, who have limits of their own', () => {
    const { enter } = admission({ requestsOpen: 1, tenantFactor: 1 })
    expect(enter(noIdentity, nothing)).toBeTypeOf('function')
    expect(enter(noIdentity, nothing)).toMatchObject({ value: 1 })
    const { tenant, principal } = noIdentity
    expect(enter({ ...ada, tenant, principal }, nothing)).toBeTypeOf('function')
  })

  it('has no limits when it owns the process', () => {
    const { enter } = admission({ requestsOpen: 0 })
    expect(enter(owner, nothing)).toBeTypeOf('function')
  })
})

describe('L2: what is open', () => {
  it('ends when its key is revoked', async () => {
    const { enter, clock, revoked } = admission()
    const ended: string[] = []
    enter(ada, () => ended.push('ada'))
    enter({ ...ada, credentialId: 'k2' }, () => ended.push('other'))
    revoked.add('k1')
    clock.advance(5_000)
    await expect.poll(() => ended).toEqual(['ada'])
  })

  it('ends when its token expires', async () => {
    const { enter, clock } = admission()
    const ended: string[] = []
    const { credentialId: _id, ...token } = ada
    enter({ ...token, expiresAt: clock.now() + 7_000 }, () => ended.push('token'))
    clock.advance(5_000)
    await Promise.resolve()
    expect(ended).toEqual([])
    clock.advance(5_000)
    await expect.poll(() => ended).toEqual(['token'])
  })

  it('ends by the wall clock, as the issuer of its token does, also when somebody has set it', async () => {
    const { enter, clock } = admission()
    const ended: string[] = []
    const { credentialId: _id, ...token } = ada
    clock.stepWall(-3_600_000)
    enter({ ...token, expiresAt: clock.wall() + 7_000 }, () => ended.push('token'))
    clock.advance(10_000)
    await expect.poll(() => ended).toEqual(['token'])
  })
})
