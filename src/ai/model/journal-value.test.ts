import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/values/json.ts'
import { fromJournal, toJournal } from './journal-value.ts'

const back = (value: unknown): unknown =>
  fromJournal(JSON.parse(JSON.stringify(toJournal(value))) as Json)

describe('values in the journal', () => {
  it('come back as they were, also objects that look like recorded ones', () => {
    const values = [
      new URL('https://lull.test/'),
      new Date(0),
      new Uint8Array([1, 2]),
      { '$lull:url': 'x' },
      { '$lull:url': 'https://lull.test/' },
      { '$lull:date': 1 },
      { '$lull:bytes': { '$lull:bytes': 'AQ==' } },
      { '$lull:plain': { '$lull:date': 'x' } },
      { '$lull:plain': { '$lull:plain': new URL('https://lull.test/') } },
      { '$lull:url': 'x', other: 1 },
    ]
    expect(values.map(back)).toEqual(values)
  })

  it('that were recorded without the mark and are no address are read as they are', () => {
    expect(fromJournal({ '$lull:url': 'x' })).toEqual({ '$lull:url': 'x' })
  })
})
