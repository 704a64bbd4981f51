/** Agents that a restart finds changed. */
import { type Agent, agent } from '../../src/engine/author/agent.ts'
import type { WriterParts } from './writer.ts'

export type AgentName = 'script' | 'editor' | 'editor, edited' | 'talker' | 'writer'

export interface AgentParts extends WriterParts {
  readonly script: Agent
}

const editor = (question: string): Agent =>
  agent({
    name: 'editor',
    description: 'Asks before it works; what it asks differs between versions',
    async run(task) {
      await task.step('draft', () => 'draft')
      const { text } = await task.ask(question)
      await task.step('print', () => text)
      await task.ask('Happy?')
      return `printed ${text}`
    },
  })

/** Each word says which process wrote it. In its first life it never comes to an end. */
const talker: Agent = agent({
  name: 'talker',
  description: 'Streams words from a step',
  run: (task) =>
    task.step('talk', async ({ stream, mayHaveRun }) => {
      const out = stream('words')
      for (let word = 0; !mayHaveRun || word < 10; word++) {
        out.write(`${process.pid}:${word} `)
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
    }),
})

/** The AI SDK is loaded for the agent that needs it alone: most processes of the suite live too short for that. */
async function writer(parts: WriterParts): Promise<Agent> {
  const { createWriter } = await import('./writer.ts')
  return createWriter(parts)
}

export function createAgents(
  names: readonly AgentName[],
  parts: AgentParts,
): Promise<readonly Agent[]> {
  const known: Readonly<Record<AgentName, () => Agent | Promise<Agent>>> = {
    script: () => parts.script,
    editor: () => editor('Title?'),
    'editor, edited': () => editor('Title and author?'),
    talker: () => talker,
    writer: () => writer(parts),
  }
  return Promise.all(names.map((name) => known[name]()))
}
