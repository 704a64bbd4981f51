import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verbs } from '../requests/verbs.ts'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'
import { message } from './inputs.ts'
import { check } from './parse.ts'

const { input: pauseInput } = verbs.pause
const given = { taskId: 'a', conditions: { onEvent: 'go' } }

describe('a checked input', () => {
  it('is returned at once when it is checked again', () => {
    const checked = check(pauseInput, given)
    expect(checked).not.toBe(given)
    expect(check(pauseInput, checked)).toBe(checked)
  })

  it('is checked by another schema', () => {
    const checked = check(pauseInput, given)
    expect(() => check(z.strictObject({ id: z.string() }), checked)).toThrow('id: is required')
  })

  it('is checked again when it was copied, because the copy may have been changed', () => {
    const copy = { ...check(pauseInput, given), mode: 'softly' }
    expect(() => check(pauseInput, copy)).toThrow('mode: must be one of')
    expect(Reflect.ownKeys(check(pauseInput, given))).toEqual(Object.keys(given))
  })

  it('is sent as it is: the engine does not copy a message that a protocol has checked', async () => {
    const harness = await createHarness({ agents: [running(async () => undefined)] })
    const data = { a: [1] }
    const checked = check(message, { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] })
    const sent = await harness.engine.send(alice, { message: checked })
    expect(sent.kind === 'task' && sent.task.history[0]?.parts).toBe(checked.parts)
  })
})
