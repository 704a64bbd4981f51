/** A3 of `audit.ts`. */
import { expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { type AuditNote, createRefusals, networkOf, ofStranger } from './audit.ts'

function refusals() {
  const clock = createManualClock()
  const added: AuditNote[] = []
  return { clock, added, ...createRefusals(clock, (note) => added.push(note)) }
}

const strange = (from: string): AuditNote => ofStranger(from, 'GET /x', 'UNAUTHENTICATED')

it('A3: strangers with a thousand addresses have 200 entries in a minute, and one that counts the others', () => {
  const { clock, added, note } = refusals()
  const everyone = (): void => {
    for (let n = 0; n < 20_000; n++) note(strange(`10.0.${(n % 1_000) >> 8}.${(n % 1_000) & 255}`))
  }
  everyone()
  expect(added).toHaveLength(200)
  clock.advance(60_000)
  const { target: _target, from: _from, ...common } = strange('')
  expect(added.slice(200)).toEqual([{ ...common, further: 19_800 }])
  everyone()
  expect(added).toHaveLength(401)
})

it('A3: strangers leave the entries of known callers alone', () => {
  const { added, note } = refusals()
  for (let n = 0; n < 5_000; n++) note(strange(`10.0.${n >> 8}.${n & 255}`))
  const known = { tenant: 'acme', principal: 'bob', action: 'task.read', outcome: 'TASK_NOT_FOUND' }
  for (let n = 0; n < 30; n++) note(known)
  expect(added.filter(({ principal }) => principal === 'bob')).toHaveLength(20)
})

it('A3: the addresses of one IPv6 network are one caller', () => {
  const { added, note, end } = refusals()
  for (let n = 0; n < 50; n++) note(strange(`2001:db8::${n.toString(16)}:1`))
  expect(added).toHaveLength(20)
  end()
  expect(added.at(-1)).toMatchObject({ from: '2001:db8:0:0::/64', further: 30 })
})

it.each([
  [undefined, undefined],
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:0DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
