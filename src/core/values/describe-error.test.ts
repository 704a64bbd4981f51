/** The invariants E1 and E2 of describe-error.ts. */
import { describe, expect, it } from 'vitest'
import { LullError } from '../errors.ts'
import { awkwardValues } from '../test-support/awkward-values.ts'
import { describeError } from './describe-error.ts'

describe('describing a thrown value', () => {
  it.each(Object.entries(awkwardValues))('E1, E2: %s is described', (_name, make) => {
    const failure = describeError(make())
    expect(typeof failure.name).toBe('string')
    expect(typeof failure.message).toBe('string')
    const text = JSON.stringify(failure)
    expect(JSON.parse(text)).toEqual(failure)
    expect(text.length).toBeLessThan(70_000)
  })

  it.each<[string, unknown, string]>([
    ['a text', 'no', 'no'],
    ['a number', 7, '7'],
    ['undefined', undefined, 'threw undefined'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
    ['an object with a message', { message: 'no such branch' }, 'no such branch'],
    ['an object', { a: 1 }, 'threw an object: {"a":1}'],
    [
      'a response',
      new Response(null, { status: 404, statusText: 'Not Found' }),
      'HTTP 404 Not Found',
    ],
  ])('says what %s says', (_name, value, message) => {
    expect(describeError(value).message).toBe(message)
  })

  it('keeps name, message, stack and code of an error, and the details of ours', () => {
    const error = Object.assign(new TypeError('no such file'), {
      code: 'ENOENT',
      details: { a: 1 },
    })
    const { stack } = error
    expect(describeError(error)).toEqual({
      name: 'TypeError',
      message: 'no such file',
      stack,
      code: 'ENOENT',
    })
    const ours = describeError(new LullError('STEP_TIMEOUT', { step: 'a', timeoutMs: 1 }))
    expect(ours).toMatchObject({ code: 'STEP_TIMEOUT', details: { step: 'a', timeoutMs: 1 } })
  })
})
