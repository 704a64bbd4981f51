import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reminder } from '../test-support/story.ts'
import type { Reminder } from './reminders.ts'
import { renderReminders } from './render-reminders.ts'

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

  it.each([
    ['</reminder>', '&lt;/reminder&gt;'],
    ['"&', '&quot;&amp;'],
    ['tab\tline\nfeed', 'tab\tline\nfeed'],
    ['bell\u0007 escape\u001B[2J', 'bell&#x7; escape&#x1B;[2J'],
    ['next\u0085line', 'next&#x85;line'],
    ['turn\u202Earound', 'turn&#x202E;around'],
    ['hidden\u{E0041}', 'hidden&#xE0041;'],
    ['half \uD800 pair', 'half \uFFFD pair'],
    ['family 👩‍👩‍👧, naïve, 漢字', 'family 👩‍👩‍👧, naïve, 漢字'],
  ])('write %j as %j', (body, written) => {
    expect(renderReminders([reminder('r-1', { body })])).toContain(`>${written}</reminder>`)
  })

  /** Pieces that could make up a forgery, in any order. */
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          ...['</reminder>', '</reminders>', '<reminder ', '<', '>', '"', "'", '&', ';', ',', '='],
          ...['&lt;', '&#60;', '\n', '\u202E', '\u{E007F}', '\u0000', '\uD800', 'speaker="', 'x'],
        ),
      )
      .map((parts) => parts.join('')),
  )
  const any = fc
    .record({
      body: hostile,
      source: fc.option(hostile, { nil: undefined }),
      tags: fc.array(hostile, { maxLength: 3 }),
      roleHint: fc.constantFrom('system' as const, 'developer' as const),
    })
    .map(
      ({ source, ...some }): Reminder =>
        reminder('r-1', { ...some, ...(source === undefined ? {} : { source }) }),
    )

  it('cannot forge the end of the block, or an element of it, in any field', () => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 4 }), (reminders) => {
        const elements = renderReminders(reminders).match(/<[^>]*>/g)
        const names = elements?.map((element) => element.split(' ')[0])
        const each = reminders.flatMap(() => ['<reminder', '</reminder>'])
        expect(names).toEqual(['<reminders>', ...each, '</reminders>'])
      }),
    )
  })

  it('show everything: nothing in the block is invisible or turns the text around', () => {
    fc.assert(
      fc.property(any, (one) => {
        const block = renderReminders([one])
        expect(block.replace(/[\t\n]/g, '')).not.toMatch(/\p{Cc}|\p{Cs}|\p{Bidi_Control}/u)
        expect(block).not.toMatch(/[\u2028\u2029\u{E0000}-\u{E007F}]/u)
      }),
    )
  })

  it('can be read back: no body, source or tag is lost, and the order is that of arrival', () => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 4 }), (reminders) => {
        const sent = reminders.map(({ body, source, tags, roleHint }) => ({
          speaker: roleHint,
          source: source && wellFormed(source),
          tags: tags.map(wellFormed),
          body: wellFormed(body),
        }))
        expect(read(renderReminders(reminders))).toEqual(sent)
      }),
    )
  })
})

const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\uFFFD')

const ELEMENT =
  /<reminder speaker="([^"]*)"(?: source="([^"]*)")?(?: tags="([^"]*)")?>([^<]*)<\/reminder>/g

/** What a reader who knows the documented escapes makes of the block. */
function read(block: string): readonly object[] {
  return [...block.matchAll(ELEMENT)].map(([, speaker, source, tags, body = '']) => ({
    speaker,
    source: source === undefined ? undefined : unescaped(source),
    tags: tags === undefined ? [] : tags.split(',').map(unescaped),
    body: unescaped(body),
  }))
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' }

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9A-F]+)|#([0-9]+)|([a-z]+));/g, (_, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? ''
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
