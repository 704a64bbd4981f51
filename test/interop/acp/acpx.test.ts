/** acpx, unmodified, end to end: it keeps sessions for days, its agent does not live that long. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { messagesIn } from '../../support/acp-traffic.ts'
import { type Acpx, createAcpx, type Ran } from './acpx.ts'
import type { Any } from './generations.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
let acpx: Acpx
beforeEach(() => {
  stage = openStage()
  acpx = createAcpx(stage)
})
afterEach(async () => {
  await acpx.close()
  await stage.close()
})

const ops = (...script: readonly object[]): string => JSON.stringify({ script })
const methods = (): readonly (string | undefined)[] =>
  messagesIn(stage.recordings().at(-1)!).map(({ method }) => method)

/** No error in what it prints, and the end of the prompt. */
function resultOf({ code, errors, messages }: Ran): Any {
  expect({ code, errors: errors.match(/^.*error.*$/im) }).toEqual({ code: 0, errors: null })
  return messages.at(-1).result
}

describe('acpx', () => {
  it('prompts again after its agent was killed between two prompts', async () => {
    await acpx.run('sessions', 'new')
    const first = await acpx.run('prompt', ops({ say: 'Hello.' }, { complete: 'One.' }))
    expect(resultOf(first)).toMatchObject({ stopReason: 'end_turn' })
    expect(first.out).toContain('One.')
    await stage.killAgent()

    const second = await acpx.run('prompt', ops({ complete: 'Two.' }))
    expect(resultOf(second)).toMatchObject({ stopReason: 'end_turn' })
    expect(second.out).toContain('Two.')
    expect(methods()).toEqual(expect.arrayContaining(['session/resume', 'session/prompt']))
    expect(second.out, 'resuming does not replay').not.toContain('Hello.')
  })

  it('loses nothing when its agent is killed in the middle of a prompt', async () => {
    await acpx.run('sessions', 'new')
    const steps = [{ step: 'one' }, { step: 'two', ms: 1 }, { step: 'three' }]
    const prompted = acpx.run('prompt', ops(...steps, { complete: 'Done.' }))
    await stage.began('two')
    await stage.killAgent()
    await prompted
    stage.openGate(1)
    const next = await acpx.run('prompt', ops({ complete: 'Next.' }))
    expect(resultOf(next)).toMatchObject({ stopReason: 'end_turn' })
    expect(['one', 'two', 'three'].map(stage.ended)).toEqual([1, 1, 1])
  })
})
