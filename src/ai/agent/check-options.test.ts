import { stepCountIs } from 'ai'
import { expect, it } from 'vitest'
import { mockModel } from '../mock-model.ts'
import { aiAgent } from './ai-agent.ts'
import type { AiAgentOptions } from './options.ts'

const base = { name: 'worker', description: 'works', model: mockModel('Hi') }

it.each<[string, object, string]>([
  ['no model', { model: undefined }, 'model'],
  ['an empty name of a model', { model: '' }, 'model'],
  ['a provider in place of a model', { model: () => undefined }, 'model'],
  ['a number of turns', { until: 5 }, 'until'],
  ['a list with a number', { until: [stepCountIs(3), 5] }, 'until'],
  ['a list of tools', { tools: [] }, 'tools'],
  ['a budget in dollars without prices', { budget: { costUsd: 1 } }, 'budget.costUsd'],
])('an agent with %s is refused when it is defined', (_, some, path) => {
  expect(() => aiAgent({ ...base, ...some } as AiAgentOptions)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: expect.objectContaining({ path }) }),
  )
})

it('an agent with a model alone is taken', () => {
  expect(aiAgent(base).name).toBe('worker')
})
