import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import type { AuthRequest } from '../authenticate.ts'
import { createCookies } from './cookies.ts'
import type { Person } from './granted-identity.ts'
import { createSealed } from './sealed.ts'
import { createSessions } from './sessions.ts'

const person: Person = { tenant: 'acme', principal: 'ann', scopes: ['ops:read'] }
const HOUR_MS = 3_600_000

function opened({ secure = false, audience = 'a', store = createMemoryStore() } = {}) {
  const clock = createManualClock()
  const sealed = createSealed(async () => new Uint8Array(32).fill(7), audience, clock.wall)
  const cookies = createCookies(secure)
  const deps = { sealed, cookies, store, clock, lastsMs: HOUR_MS }
  return { clock, sessions: createSessions(deps), other: createSessions(deps), store }
}

const reading = (cookie: string): AuthRequest => ({
  method: 'GET',
  path: '/ops/tasks',
  header: (name) => (name === 'cookie' ? cookie.split(';')[0] : undefined),
})

it('C3: ends at its time, and not before', async () => {
  const { clock, sessions } = opened()
  const { cookie } = await sessions.begin(person)
  clock.advance(HOUR_MS - 1_000)
  expect(await sessions.identify(reading(cookie))).toMatchObject({ principal: 'ann' })
  clock.advance(1_000)
  expect(await sessions.identify(reading(cookie))).toBeUndefined()
})

it('C3: has ended at once where it was signed out, and soon in other processes', async () => {
  const { clock, sessions, other } = opened()
  const [first, second] = [await sessions.begin(person), await sessions.begin(person)]
  const identity = await other.identify(reading(first.cookie))
  if (identity === undefined) throw new Error('no session')
  await sessions.end(identity)
  expect(await sessions.identify(reading(first.cookie))).toBeUndefined()
  clock.advance(2_000)
  expect(await other.identify(reading(first.cookie))).toBeUndefined()
  expect(await other.stillValid(first.id)).toBe(false)
  expect(await other.stillValid(second.id)).toBe(true)
})

it('C3: forgets the ids of sessions that are over anyway', async () => {
  const { clock, sessions, store } = opened()
  for (let round = 0; round < 3; round++) {
    const { cookie } = await sessions.begin(person)
    const identity = await sessions.identify(reading(cookie))
    if (identity !== undefined) await sessions.end(identity)
    clock.advance(HOUR_MS + 1_000)
  }
  expect(Object.keys((await store.getValue('auth/ended-sessions')) ?? {})).toHaveLength(1)
})

it('C4: ends with another configuration', async () => {
  const { cookie } = await opened().sessions.begin(person)
  expect(await opened({ audience: 'b' }).sessions.identify(reading(cookie))).toBeUndefined()
  expect(await opened().sessions.identify(reading(cookie))).toBeDefined()
})

it('C1: is bound to the host and to HTTPS, except on loopback', async () => {
  const { cookie } = await opened({ secure: true }).sessions.begin(person)
  expect(cookie).toMatch(
    /^__Host-lull-session=\S+; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
  )
  const plain = (await opened().sessions.begin(person)).cookie
  expect(plain).toMatch(/^lull-session=/)
  expect(plain).not.toContain('Secure')
})
