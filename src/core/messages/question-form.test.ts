import { describe, expect, it } from 'vitest'
import type { Question } from '../records.ts'
import { filledIn, formOf } from './question-form.ts'

const question: Question = {
  state: 'input-required',
  message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Well?' }] },
}
const flat = { type: 'object', properties: { n: { type: 'integer' } } }
const deep = { type: 'object', properties: { n: { type: 'array' } } }
const accept = (content: object): object => ({ action: 'accept', content })

describe('the form of a question', () => {
  it('has one field for a text', () => {
    expect(formOf(question)).toMatchObject({
      message: 'Well?',
      requestedSchema: { properties: { answer: { type: 'string', minLength: 1 } } },
    })
    expect(filledIn(question, accept({ answer: 'yes' }))).toEqual({ text: 'yes' })
  })

  it('offers the choices', () => {
    const choices = [{ value: 'a' }, { value: 'b', label: 'B' }]
    expect(formOf({ ...question, choices }).requestedSchema).toMatchObject({
      properties: {
        answer: {
          oneOf: [
            { const: 'a', title: 'a' },
            { const: 'b', title: 'B' },
          ],
        },
      },
    })
    expect(filledIn({ ...question, choices }, accept({ answer: 'b' }))).toEqual({ text: 'b' })
  })

  it('has the fields of a flat schema, and gives them as data', () => {
    expect(formOf({ ...question, schema: flat }).requestedSchema).toEqual(flat)
    expect(filledIn({ ...question, schema: flat }, accept({ n: 1 }))).toEqual({ data: { n: 1 } })
  })

  it('has one field for a schema that forms cannot have', () => {
    expect(filledIn({ ...question, schema: deep }, accept({ answer: '{"n":[]}' }))).toEqual({
      text: '{"n":[]}',
    })
  })

  it('that is dismissed or empty gives no answer', () => {
    expect(filledIn(question, { action: 'decline' })).toBeUndefined()
    expect(filledIn(question, accept({ answer: '' }))).toBeUndefined()
  })
})
