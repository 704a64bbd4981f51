/** Agents that a restart finds changed. */
import { type Agent, agent } from '../../src/engine/agent.ts'

export type AgentName = 'script' | 'editor' | 'editor, edited'

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

export function createAgents(names: readonly AgentName[], script: Agent): readonly Agent[] {
  const known: Readonly<Record<AgentName, Agent>> = {
    script,
    editor: editor('Title?'),
    'editor, edited': editor('Title and author?'),
  }
  return names.map((name) => known[name])
}
