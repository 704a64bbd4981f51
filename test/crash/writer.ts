/**
 * A model with tools, as an agent. It streams, calls a batch of tools, asks for approval and answers. Every model call says
 * which process made it, so that the text of two attempts cannot be taken for one.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tool } from 'ai'
import { z } from 'zod'
import { aiAgent } from '../../src/ai/agent/ai-agent.ts'
import { scriptedModel } from '../../src/ai/test-support/mock-model.ts'
import type { refusals } from '../../src/ai/test-support/provider-rules.ts'
import type { Agent } from '../../src/engine/author/agent.ts'
import { effectLine } from '../../src/testing/script-agent/work.ts'

export interface WriterParts {
  readonly data: string
  readonly effects: (line: string) => void
  /** The model call (`model 0`) or tool (`search two`) that never ends in this process. */
  readonly hangsAt?: string
}

type Prompt = Parameters<typeof refusals>[0]

const promptsPath = (data: string): string => join(data, 'prompts')

/** Every list of messages that a model was asked with, in order, also those whose answer was lost. */
export function readPrompts(data: string): readonly Prompt[] {
  if (!existsSync(promptsPath(data))) return []
  const lines = readFileSync(promptsPath(data), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Prompt)
}

const turns = [
  ['I look around first.', ['search', 'one'], ['search', 'two'], ['search', 'three']],
  ['Now I deploy it.', ['deploy', 'prod'], ['search', 'four']],
  ['All of it is deployed and checked.'],
] as const

export function createWriter({ data, effects, hangsAt }: WriterParts): Agent {
  /** Notes that it begins. Returns whether it never ends here. */
  function begin(name: string): boolean {
    effects(effectLine('begin', '-', name, 1, 1, Date.now()))
    return name === hangsAt
  }
  const { model } = scriptedModel((turn, prompt) => {
    appendFileSync(promptsPath(data), `${JSON.stringify(prompt)}\n`)
    const [text = '', ...calls] = turns[turn] ?? []
    return {
      text: `${process.pid}: ${text}`,
      calls: calls.map(([name, q]) => ({ tool: name, id: q, input: { q } })),
      hangs: begin(`model ${turn}`),
    }
  })
  const execute = (name: string) => async (input: { readonly q: string }) => {
    if (begin(`${name} ${input.q}`)) await new Promise(() => undefined)
    return `${name} of ${input.q}`
  }
  const inputSchema = z.object({ q: z.string() })
  const tools = {
    search: tool({ inputSchema, execute: execute('search') }),
    deploy: tool({ inputSchema, needsApproval: true, execute: execute('deploy') }),
  }
  return aiAgent({ name: 'writer', description: 'Writes and deploys', model, tools })
}
