import { expect, it } from 'vitest'
import { adviceFor } from './bootstrap.mjs'

it('advises Node 24 on Node 20, and says nothing on newer ones', () => {
  expect(adviceFor('20.20.2')).toContain('use Node 24')
  expect(['22.18.0', '24.21.0', '26.0.0'].map(adviceFor)).toEqual([undefined, undefined, undefined])
})
