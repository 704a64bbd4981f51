/** acpx, unmodified, end to end: it keeps sessions for days, its agent does not live that long. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { messagesIn } from '../../support/acp-traffic.ts'
import { type Acpx, createAcpx, type Ran } from './acpx.ts'
import type { Any } from './generations.ts'
import { type Harness, openHarness } from './harness.ts'

let harness: Harness
let acpx: Acpx
beforeEach(() => {
  harness = openHarness()
  acpx = createAcpx(harness)
})
afterEach(async () => {
  await acpx.close()
  await harness.close()
})

const steps = [{ step: 'one' }, { step: 'two', ms: 1 }, { step: 'three' }]
const ops = (...script: readonly object[]): string => JSON.stringify({ script })
const methods = (): readonly (string | undefined)[] =>
  messagesIn(harness.recordings().at(-1)!).map(({ method }) => method)

/** No error in what it prints, and the end of the prompt. */
function resultOf({ code, errors, messages }: Ran): Any {
  expect({ code, errors: errors.match(/^.*error.*$/im) }).toEqual({ code: 0, errors: null })
  return messages.at(-1).result
}

describe('acpx', () => {
  it('goes on after its agent was killed, between two prompts and in the middle of one', async () => {
    await acpx.run('sessions', 'new')
    const first = await acpx.run('prompt', ops({ say: 'Hello.' }, { complete: 'One.' }))
    expect(resultOf(first)).toMatchObject({ stopReason: 'end_turn' })
    expect(first.out).toContain('One.')
    await harness.killAgent()

    const second = acpx.run('prompt', ops(...steps, { complete: 'Done.' }))
    await harness.began('two')
    expect(methods()).toEqual(expect.arrayContaining(['session/resume', 'session/prompt']))
    await harness.killAgent()
    expect((await second).out, 'resuming does not replay').not.toContain('Hello.')

    harness.openGate(1)
    const next = await acpx.run('prompt', ops({ complete: 'Next.' }))
    expect(resultOf(next)).toMatchObject({ stopReason: 'end_turn' })
    expect(next.out).toContain('Next.')
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
  })

  it('suspends in the middle of a prompt with an option, and goes on with the next prompt', async () => {
    await acpx.run('sessions', 'new')
    const prompted = acpx.run('prompt', ops(...steps, { complete: 'Done.' }))
    await harness.began('two')
    const setting = acpx.run('set', 'run_state', await harness.offered('suspended'))
    await expect.poll(() => states()).toContain('quiescing')
    harness.openGate(1)
    expect(await setting).toMatchObject({ code: 0 })
    expect(resultOf(await prompted)).toMatchObject({
      stopReason: 'end_turn',
      _meta: { lull: { suspend: { state: 'suspended' } } },
    })
    await harness.killAgent()

    const next = await acpx.run('prompt', 'Go on.')
    expect(resultOf(next)).toMatchObject({ stopReason: 'end_turn' })
    expect(next.out).toContain('Done.')
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
    expect(methods(), 'it sends what it remembers').toContain('session/set_config_option')
  })

  it('cancels a prompt, lists the session and closes it', async () => {
    await acpx.run('sessions', 'new')
    const prompted = acpx.run('prompt', ops(...steps))
    await harness.began('two')
    expect(await acpx.run('cancel')).toMatchObject({ code: 0 })
    expect(resultOf(await prompted)).toMatchObject({ stopReason: 'cancelled' })
    const listed = await acpx.run('sessions', 'list')
    expect(listed.out).toContain(
      harness.messages().find(({ method }) => method === 'session/prompt')?.params.sessionId,
    )
    expect(await acpx.run('sessions', 'close')).toMatchObject({ code: 0 })
    expect(harness.messages().map(({ method }) => method)).toContain('session/close')
    expect(harness.ended('three')).toBe(0)
  })
})

const states = (): readonly string[] =>
  harness.messages().flatMap(({ params }) => params?.update?._meta?.lull?.suspend?.state ?? [])
