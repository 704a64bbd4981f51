import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Artifact } from './message.ts'
import { message } from './test-support/story.ts'
import { defaultDigest } from './transcript.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

const artifact = (artifactId: string, name?: string): Artifact => ({
  artifactId,
  parts: [{ text: '…' }],
  ...(name === undefined ? {} : { name }),
})

describe('the default digest', () => {
  it('keeps the first and the last message and the list of artifacts', () => {
    const messages = [message('1', 'Rebase main'), message('2', 'Wait'), message('3', 'Go on')]
    expect(defaultDigest(messages, [artifact('a-1', 'result.patch'), artifact('a-2')])).toBe(
      'Asked: Rebase main\nLast message: Go on\nArtifacts so far: result.patch, a-2',
    )
  })

  it('says a single message once', () => {
    expect(defaultDigest([message('1', 'Rebase main')], [])).toBe('Asked: Rebase main')
  })

  it('is empty where there is nothing to say', () => {
    expect(defaultDigest([], [])).toBe('')
  })

  it('reads the text parts of a message and leaves the rest out', () => {
    const mixed = {
      ...message('1'),
      parts: [{ text: 'one' }, { data: { two: 2 } }, { text: 'three' }],
    }
    expect(defaultDigest([mixed], [])).toBe('Asked: one\nthree')
  })

  it('does not let a long first message hide the last one', () => {
    const digest = defaultDigest([message('1', 'x'.repeat(50_000)), message('2', 'Go on')], [])
    expect(digest).toMatch(/^Asked: x+…\nLast message: Go on$/)
  })

  it('is kept whole up to 2,000 characters', () => {
    const text = 'x'.repeat(2_000 - 'Asked: '.length)
    expect(defaultDigest([message('1', text)], [])).toBe(`Asked: ${text}`)
    expect(defaultDigest([message('1', `${text}x`)], [])).toMatch(/…$/)
  })

  it('has at most 2,000 characters, whatever was said', () => {
    const text = fc.string({ maxLength: 3_000, size: 'max' })
    const texts = fc.array(text, { maxLength: 4 })
    fc.assert(
      fc.property(texts, texts, (said, names) => {
        const messages = said.map((body, index) => message(`m-${index}`, body))
        const artifacts = names.map((name, index) => artifact(`a-${index}`, name))
        expect(defaultDigest(messages, artifacts).length).toBeLessThanOrEqual(2_000)
      }),
    )
  })
})
