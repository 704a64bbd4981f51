import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createHarness, effects, type Harness } from '../../engine/test-support/engine-harness.ts'
import { aiAgent } from '../agent/ai-agent.ts'
import { scriptedModel } from '../test-support/mock-model.ts'

const input = z.object({ to: z.string() })

/** @param asks whether the policy of the tool wants approval now */
function deployer(asks: () => boolean, deploy: (to: string) => void) {
  const { model } = scriptedModel((turn) =>
    turn === 0
      ? { calls: ['a', 'b'].map((to) => ({ tool: 'deploy', id: to, input: { to } })) }
      : { text: 'done' },
  )
  const tools = {
    deploy: tool({ inputSchema: input, needsApproval: asks, execute: ({ to }) => deploy(to) }),
  }
  return [aiAgent({ name: 'deployer', description: 'deploys', model, tools })]
}

async function open(harness: Harness, id: string) {
  const { question } = await harness.until(id, 'user-consent-required')
  return question?.consent ?? { consentId: '', operation: null, digest: '' }
}

const answer = (harness: Harness, id: string, consentId: string, decision: string) =>
  harness.tell(id, [{ data: { consentId, decision } }])

describe('approval of tool calls', () => {
  it('P1: is decided once, also when the policy says otherwise after a restart', async () => {
    let asked = 0
    const seen = effects()
    const asks = () => {
      asked++
      return true
    }
    const harness = await createHarness({ agents: deployer(asks, seen.note) })
    const { id } = await harness.send('go')
    await open(harness, id)
    const recovered = await harness.recover({ agents: deployer(() => false, seen.note) })
    for (const decision of ['denied', 'granted']) {
      const { consentId } = await open(recovered, id)
      await answer(recovered, id, consentId, decision)
    }
    await recovered.ended(id)
    expect([asked, seen.list]).toEqual([2, ['b']])
  })

  it('P2: is valid for one call with its arguments, and an answer to another question is refused', async () => {
    const seen = effects()
    const harness = await createHarness({ agents: deployer(() => true, seen.note) })
    const { id } = await harness.send('go')
    const first = await open(harness, id)
    await answer(harness, id, first.consentId, 'granted')
    const second = await harness.until(
      id,
      ({ question }) => question?.consent !== undefined && question.consent.digest !== first.digest,
    )
    expect(second.question?.consent?.operation).toMatchObject({ input: { to: 'b' } })
    await answer(harness, id, first.consentId, 'granted').catch(() => undefined)
    expect(seen.list).toEqual([])
    expect((await harness.get(id)).state).toBe('user-consent-required')
  })

  it('P3: a denied call is never executed, also after a restart', async () => {
    const seen = effects()
    const harness = await createHarness({ agents: deployer(() => true, seen.note) })
    const { id } = await harness.send('go')
    await answer(harness, id, (await open(harness, id)).consentId, 'denied')
    await open(harness, id)
    const recovered = await harness.recover()
    await answer(recovered, id, (await open(recovered, id)).consentId, 'denied')
    expect((await recovered.ended(id)).state).toBe('completed')
    expect(seen.list).toEqual([])
  })
})
