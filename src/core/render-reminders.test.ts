import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderReminders } from './render-reminders.ts'
import { reminder } from './test-support/story.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

describe('reminders as a model sees them', () => {
  it('are one block, in order of arrival', () => {
    const developer = reminder('r-2', { roleHint: 'developer', source: 'ci', tags: ['a', 'b'] })
    expect(renderReminders([reminder('r-1'), developer])).toBe(
      [
        '<reminders>',
        '<reminder speaker="system">body of r-1</reminder>',
        '<reminder speaker="developer" source="ci" tags="a,b">body of r-2</reminder>',
        '</reminders>',
      ].join('\n'),
    )
  })

  it('are nothing where there are none', () => {
    expect(renderReminders([])).toBe('')
  })

  it('cannot forge the end of the block, or an element of it, in any field', () => {
    const hostile = fc.oneof(
      fc.string(),
      fc
        .array(fc.constantFrom('</reminder>', '</reminders>', '<reminder ', '"', '&lt;', '>', 'x'))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(hostile, hostile, fc.array(hostile), (body, source, tags) => {
        const block = renderReminders([reminder('r-1', { body, source, tags }), reminder('r-2')])
        expect(block.match(/<[^>]*>/g)?.map((tag) => tag.split(' ')[0])).toEqual([
          '<reminders>',
          '<reminder',
          '</reminder>',
          '<reminder',
          '</reminder>',
          '</reminders>',
        ])
      }),
    )
  })

  it('can be read back: nothing of a body is lost', () => {
    fc.assert(
      fc.property(fc.string(), (body) => {
        const block = renderReminders([reminder('r-1', { body })])
        const inner = /<reminder [^>]*>([\s\S]*)<\/reminder>/.exec(block)?.[1] ?? ''
        expect(inner.replace(/&(lt|gt|quot|amp);/g, (entity) => read[entity] ?? '')).toBe(body)
      }),
    )
  })
})

const read: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
}
