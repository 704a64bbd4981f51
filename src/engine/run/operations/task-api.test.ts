import { describe, expect, it, vi } from 'vitest'
import type { AgentTask } from '../../author/agent-task.ts'
import { createHarness, running } from '../../test-support/engine-harness.ts'

async function saidBy(run: (task: AgentTask) => Promise<void>): Promise<readonly string[]> {
  const harness = await createHarness({ agents: [running(run)] })
  const { id } = await harness.send('go')
  const { history, statusMessage } = await harness.ended(id)
  const told = [...history.slice(1), ...(statusMessage === undefined ? [] : [statusMessage])]
  return told.map(({ parts }) => JSON.stringify(parts))
}

describe('the task an agent is given', () => {
  it.each<[string, (task: AgentTask) => Promise<void>]>([
    ['taken apart', ({ say }) => say('x')],
    ['spread', (task) => ({ ...task }).say('x')],
    ['kept as the rest', ({ text: _, ...task }) => task.say('x')],
    ['inherited from', (task) => (Object.create(task) as AgentTask).say('x')],
    ['behind a proxy', (task) => new Proxy(task, {}).say('x')],
    ['given other functions', (task) => Object.assign(task, { sleep: task.say }).say('x')],
    [
      'spied on',
      (task) => {
        vi.spyOn(task, 'say')
        return task.say('x')
      },
    ],
  ])('works also when it is %s', async (_name, run) => {
    expect(await saidBy(run)).toEqual(['[{"text":"x"}]'])
  })

  it('shares nothing with the tasks of others', async () => {
    const seen: number[] = []
    const pushing = async ({ context, referenced }: AgentTask): Promise<void> => {
      for (const list of [context.messages, context.tasks, context.artifacts, referenced.tasks]) {
        seen.push(list.length)
        expect(() => (list as unknown[]).push('mine')).toThrow(TypeError)
      }
    }
    await saidBy(pushing)
    await saidBy(pushing)
    expect(seen).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })
})
