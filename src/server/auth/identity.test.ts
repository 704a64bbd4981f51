import { describe, expect, it } from 'vitest'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import {
  callerIn,
  callerOf,
  type Identity,
  may,
  memberIn,
  noIdentity,
  operatorIn,
  owner,
} from './identity.ts'

const member: Identity = { tenant: 'acme', principal: 'ada', scopes: new Set(['ops:read']) }
const operator: Identity = { ...member, tenant: '*', anyTenant: true }
const query = (text: string): URLSearchParams => new URLSearchParams(text)

describe('an identity', () => {
  it('N1: may do nothing that it was not given', () => {
    expect(scopes.filter((scope) => may(noIdentity, scope))).toEqual([])
    expect(scopes.filter((scope) => may(member, scope))).toEqual([
      'tasks:read',
      'tasks:read:all',
      'ops:read',
    ])
    expect(scopes.filter((scope) => may(owner, scope))).toEqual(scopes)
  })

  it('N2: acts in all tenants at once only as an operator', () => {
    expect(operatorIn(operator, query(''))).toMatchObject({ tenant: '*', operator: true })
    expect(() => memberIn(operator, query(''))).toThrow('must name one tenant')
    expect(() => memberIn(owner, query('tenant=*'))).toThrow('must name one tenant')
    expect(() => operatorIn(member, query('tenant=*'))).toThrow('is unknown')
  })

  it('N3: acts in its own tenant, and in another only with the right to', () => {
    expect(callerIn(member, query(''))).toMatchObject({ tenant: 'acme', principal: 'ada' })
    expect(callerIn(member, query('tenant=acme')).tenant).toBe('acme')
    expect(() => callerIn(member, query('tenant=other'))).toThrow('is unknown')
    expect(callerIn(owner, query('tenant=other')).tenant).toBe('other')
    expect(callerIn(operator, query('tenant=other')).tenant).toBe('other')
  })

  it('N3: of all tenants stays one in the tenant that it names', () => {
    expect(operatorIn(operator, query('tenant=acme'))).toMatchObject({ ofAllTenants: true })
    expect(operatorIn(member, query('tenant=acme')).ofAllTenants).toBeUndefined()
  })

  it('N3: of the owner is one of all tenants, also in the tenant of the owner', () => {
    for (const named of ['', 'tenant=*', 'tenant=default', 'tenant=acme']) {
      expect(operatorIn(owner, query(named))).toMatchObject({ ofAllTenants: true })
    }
  })

  const [own, tenant] = ['own', 'tenant'] as const

  it.each<[Scope, NonNullable<Caller['reach']>]>([
    ['tasks:read', { read: own, answer: own, control: own }],
    ['tasks:write', { read: own, answer: own, control: own }],
    ['tasks:control', { read: own, answer: own, control: own }],
    ['tasks:work', { read: own, answer: own, control: own }],
    ['events:write', { read: own, answer: own, control: own }],
    ['events:write:all', { read: own, answer: own, control: own }],
    ['tasks:read:all', { read: tenant, answer: own, control: own }],
    ['tasks:answer:all', { read: tenant, answer: tenant, control: own }],
    ['tasks:control:all', { read: tenant, answer: own, control: tenant }],
    ['ops:read', { read: tenant, answer: own, control: own }],
    ['ops:control', { read: tenant, answer: own, control: tenant }],
  ])('N4: with %s alone reaches so far', (scope, reach) => {
    expect(callerOf({ ...member, scopes: new Set([scope]) }).reach).toEqual(reach)
  })

  it.each(['', 'x'.repeat(257)])('names no tenant %j', (name) => {
    expect(() => callerIn(owner, query(`tenant=${name}`))).toThrow('tenant')
  })
})
