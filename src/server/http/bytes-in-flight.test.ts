import { describe, expect, it } from 'vitest'
import { type Identity, noIdentity, owner } from '../auth/identity.ts'
import { createBytesInFlight } from './bytes-in-flight.ts'

const caller = (principal: string): Identity => ({ tenant: 'acme', principal, scopes: new Set() })

describe('F1: bytes in flight', () => {
  it('of a caller are limited, and one large answer is always possible', () => {
    const refused: string[] = []
    const { account } = createBytesInFlight(100, (limit) => refused.push(limit))
    const [first, second] = [account(caller('ann')), account(caller('ann'))]
    expect(first.set(150)).toBeUndefined()
    const reached = { limit: 'bytesInFlight of the principal', value: 100 }
    expect(second.set(1)).toEqual(reached)
    expect(account(caller('bob')).set(100)).toBeUndefined()
    first.set(40)
    expect(second.set(60)).toBeUndefined()
    expect(second.set(61)).toEqual(reached)
    expect(first.set(41)).toEqual(reached)
    second.set(59)
    expect(first.set(41)).toBeUndefined()
    expect(refused).toEqual(Array(3).fill(reached.limit))
  })

  it('of all callers together are limited, and the owner by this alone', () => {
    const { account } = createBytesInFlight(100)
    for (let n = 0; n < 3; n++) expect(account(owner).set(100)).toBeUndefined()
    expect(account(caller('ann')).set(100)).toBeUndefined()
    const reached = { limit: 'bytesInFlight of the server', value: 400 }
    expect(account(owner).set(1)).toEqual(reached)
    expect(account(caller('bob')).set(1)).toEqual(reached)
  })

  it('of strangers are those of no principal', () => {
    const { account } = createBytesInFlight(100)
    const { tenant, principal } = noIdentity
    account(noIdentity).set(100)
    expect(account({ ...noIdentity, tenant, principal }).set(100)).toBeUndefined()
  })
})
