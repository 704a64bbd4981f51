import { expect, it } from 'vitest'
import { withDefaults } from './options.ts'

it.each([0, -1, 1.5, Number.NaN])('refuse a tenant share of %d, and say why', (tenantShare) => {
  expect(() => withDefaults({ tenantShare })).toThrow(/tenantShare.*must be above 0 and at most 1/)
})

it.each([0.01, 1])('take a tenant share of %d', (tenantShare) => {
  expect(withDefaults({ tenantShare }).tenantShare).toBe(tenantShare)
})
