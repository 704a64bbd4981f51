import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { alice, createHarness, effects, olga, running } from '../../test-support/engine-harness.ts'
import { replayAgents } from './replay-agents.ts'
import { replayed, withMovingClock } from './test-support/replayed.ts'

type Code = (task: AgentTask) => Promise<unknown>

const agentOf = (code: Code) =>
  running(async (task) => {
    await code(task)
  })

/** The log of a task that stopped under that code. */
async function logOf(code: Code): Promise<readonly LogRecord[]> {
  const harness = await createHarness({ agents: [agentOf(code)] })
  const { id } = await harness.send('go')
  await harness.until(id, (task) => task.suspension !== undefined || task.question !== undefined)
  return harness.log(id)
}

const parks: Code = async (task) => {
  await task.step('charge', () => 1)
  await task.park({ reason: 'x', onEvent: 'paid' })
  await task.step('ship', () => 2)
}

const names = (operations: readonly { readonly name: string }[]): readonly string[] =>
  operations.map(({ name }) => name)

describe('a replay of code (replay-code.ts)', () => {
  it('fits unchanged code, which comes to the place where the task stopped', async () => {
    const replay = await replayed(agentOf(parks), await logOf(parks))
    expect(replay).toMatchObject({ verdict: 'fits', notCalled: [] })
    expect(names(replay.goesOnFrom)).toEqual(['park'])
  })

  it('Y3: does not run code behind a park or a question, because its result is not known', async () => {
    const seen = effects()
    const code: Code = async (task) => {
      await task.park({ reason: 'x' })
      seen.note('behind')
    }
    expect(await replayed(agentOf(code), await logOf(code))).toMatchObject({ verdict: 'fits' })
    expect(seen.list).toEqual([])
  })

  it('names the renamed step and the recorded one', async () => {
    const replay = await replayed(
      agentOf(async (task) => {
        await task.step('charge the card', () => 1)
        await task.park({ reason: 'x', onEvent: 'paid' })
      }),
      await logOf(parks),
    )
    expect(replay).toMatchObject({
      verdict: 'stops',
      changes: [{ asked: { name: 'step "charge the card"' }, recorded: { name: 'step "charge"' } }],
    })
  })

  it.each<[string, Code, Code]>([
    ['a question', (task) => task.ask('Red?'), (task) => task.ask('Blue?')],
    [
      'the conditions of a park',
      (task) => task.park({ reason: 'x', onEvent: 'a' }),
      (task) => task.park({ reason: 'x', onEvent: 'b' }),
    ],
    [
      'the operation that is consented to',
      (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 1 } }),
      (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 9 } }),
    ],
  ])('finds %s that changed while the task waits there', async (_name, before, after) => {
    const log = await logOf(before)
    expect(await replayed(agentOf(before), log)).toMatchObject({ verdict: 'fits' })
    expect(await replayed(agentOf(after), log)).toMatchObject({ verdict: 'stops' })
  })

  it('D1 (dry-host.ts): goes on behind an output that was added before recorded operations', async () => {
    const replay = await replayed(
      agentOf(async (task) => {
        await task.say('new')
        await task.artifact({ name: 'new', text: 'new' })
        await parks(task)
      }),
      await logOf(parks),
    )
    expect(replay).toMatchObject({ verdict: 'fits', notCalled: [] })
    expect(names(replay.goesOnFrom)).toEqual(['park'])
  })

  it('is unclear behind an added step, because its result is not known', async () => {
    const replay = await replayed(
      agentOf(async (task) => {
        await task.step('added', () => 1, { added: true })
        await parks(task)
      }),
      await logOf(parks),
    )
    expect(replay.verdict).toBe('unclear')
    expect(names(replay.goesOnFrom)).toEqual(['step "added"'])
    expect(names(replay.notCalled)).toEqual(['step "charge"', 'park'])
  })

  it('Y1: calls no compact of the agent, which may ask a model', async () => {
    const seen = effects()
    const compact = () => {
      seen.note('compact')
      return []
    }
    const agent = running(
      async (task) => {
        await task.compact()
        await parks(task)
      },
      { compact },
    )
    const replay = await replayed(agent, await logOf(parks))
    expect(seen.list).toEqual([])
    expect(replay.verdict).toBe('unclear')
    expect(names(replay.goesOnFrom)).toEqual(['compact'])
  })

  it('tells that the code fails on what is recorded', async () => {
    const replay = await replayed(
      agentOf(async (task) => {
        const charged = await task.step<number>('charge', () => 1)
        if (charged === 1) throw new Error('no euros')
      }),
      await logOf(parks),
    )
    expect(replay).toMatchObject({ verdict: 'fails', failure: 'no euros' })
  })

  it('is unclear when the code waits for what is no operation', async () => {
    const replay = await replayed(
      agentOf(() => new Promise(() => undefined)),
      await logOf(parks),
    )
    expect(replay.verdict).toBe('unclear')
  })

  it('creates and asks no child', async () => {
    const seen = effects()
    const child = running(async (task) => {
      seen.note(task.text)
      await task.park({ reason: 'x' })
    })
    const parent = running(
      async (task) => {
        const delegated = await task.delegate(child.name, 'go')
        await delegated.result()
      },
      { name: 'parent' },
    )
    const harness = await createHarness({ agents: [parent, child] })
    const { id } = await harness.send('go', { agent: 'parent' })
    await harness.settled()
    const before = await harness.engine.list(olga)
    const replay = await replayed(parent, await harness.log(id))
    expect(replay.verdict).toBe('fits')
    expect(replay.goesOnFrom[0]?.key).toMatch(/^child-result:/)
    expect(await harness.engine.list(olga)).toEqual(before)
    expect(seen.list).toEqual(['go'])
  })

  it('follows a held task, and one that was stopped as code-changed, to where a resume leads', async () => {
    const renamed: Code = async (task) => {
      await task.step('renamed', () => 1)
      await task.park({ reason: 'x', onEvent: 'paid' })
    }
    const old = await createHarness({ agents: [agentOf(parks)] })
    const { id } = await old.send('go')
    await old.until(id, 'paused-by-agent')
    await old.engine.hold(olga, { scope: { all: true }, reason: 'panic' })
    expect(await replayed(agentOf(parks), await old.log(id))).toMatchObject({ verdict: 'fits' })
    const harness = await old.restart({ agents: [agentOf(renamed)] })
    const [hold] = await harness.engine.holds(olga)
    await harness.engine.lift(olga, hold?.id ?? '')
    await harness.engine.resume(alice, { taskId: id })
    await harness.pass(1_000)
    await harness.until(id, 'paused-by-client')
    const accepted = await replayed(agentOf(renamed), await harness.log(id))
    // The accepted step runs once. What is recorded behind it depends on its result.
    expect(accepted.verdict).toBe('unclear')
    expect(names(accepted.goesOnFrom)).toEqual(['step "renamed"'])
  })
})

describe('a replay of agents (replay-agents.ts)', () => {
  it('counts the open tasks by verdict, and is not ok when one would not go on', async () => {
    const harness = await createHarness({ agents: [agentOf(parks)] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const log = await harness.log(id)
    const asking = await logOf((task) => task.ask('Red?'))
    const ended = await logOf(parks)
    const end = { type: 'canceled', actor: { kind: 'client', id: 'x' } } as const
    const logs = [log, asking, [...ended, { ...end, seq: ended.length + 1, at: 1 }]].map(
      (records) => ({ records }),
    )
    const agents = [agentOf(parks)]
    const replay = await withMovingClock((deps) => replayAgents({ agents, logs }, deps))
    expect(replay).toMatchObject({ ok: false, counts: { fits: 1, stops: 1 } })
    expect(replay.tasks).toHaveLength(2)
    const parked = await withMovingClock((deps) =>
      replayAgents({ agents, logs, parked: true }, deps),
    )
    expect(parked).toMatchObject({ ok: true, counts: { fits: 1, stops: 0 } })
  })

  it('names tasks without an agent, and logs that cannot be folded', async () => {
    const log = await logOf(parks)
    const gap = log.filter(({ type }) => type !== 'submitted')
    const logs = [{ records: log }, { records: gap }]
    const replay = await withMovingClock((deps) => replayAgents({ agents: [], logs }, deps))
    expect(replay).toMatchObject({ ok: false, counts: { 'agent-unknown': 1, unreadable: 1 } })
  })
})
