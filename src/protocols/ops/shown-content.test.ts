import { expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import { shownContent } from './shown-content.ts'

const shown = (value: Json) => JSON.parse(shownContent(value).json) as Json

it('shows small content as it is', () => {
  const value = { status: 'failed', tests: [1, 2], nested: { deep: [null, true] } }
  expect(shownContent(value)).toEqual({ json: JSON.stringify(value), isCut: false })
})

it('C2: redacts members whose names tell of a secret, at any depth', () => {
  const value = {
    token: 'a',
    list: [{ apiKey: 'b', 'x-api-key': 'c' }],
    headers: { Authorization: 'd', accessToken: 'e' },
    tokens: 12,
    tokenizer: 'kept',
  }
  expect(shown(value)).toEqual({
    token: '[redacted]',
    list: [{ apiKey: '[redacted]', 'x-api-key': '[redacted]' }],
    headers: { Authorization: '[redacted]', accessToken: '[redacted]' },
    tokens: 12,
    tokenizer: 'kept',
  })
})

it.each([
  ['a long text', 'x'.repeat(1_000_000)],
  ['a long list', Array.from({ length: 200_000 }, (_, index) => index)],
  ['many members', Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`n${n}`, 'y']))],
  ['long names', { ['n'.repeat(5_000)]: 1, after: 2 }],
])('C1: %s is cut, and says so', (_, value) => {
  const { json, isCut } = shownContent(value)
  expect(isCut).toBe(true)
  expect(json.length).toBeLessThan(8_000)
})

it('ends at a depth that no screen shows', () => {
  let deep: Json = 1
  for (let level = 0; level < 60; level++) deep = [deep]
  expect(shownContent(deep).isCut).toBe(true)
})
