/** Whether a task matches what somebody typed. The server searches all tasks by it, the dashboard filters its own. */
import type { TaskSummary } from './ops/tasks.ts'

/** Every word must be in what a card shows, or in an id. Letters match in both cases. */
export function matchesSearch(task: TaskSummary, text: string): boolean {
  const { title, says, agent, taskId, contextId, state } = task
  const shown = [title, says, agent, taskId, contextId, state].join('\n').toLowerCase()
  return wordsIn(text).every((word) => shown.includes(word))
}

function wordsIn(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}
