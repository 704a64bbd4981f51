/** One task: what it does, what can be done about it, what happened. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Actions } from '../parts/actions.tsx'
import { Conversation } from '../parts/conversation.tsx'
import { Age } from '../parts/countdown.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { WaitCard } from '../parts/wait-card.tsx'
import { Webhooks } from '../parts/webhooks.tsx'
import { messageOf } from '../server.ts'
import { load, taskOf } from '../tasks.ts'

const refusal = signal<string | undefined>(undefined)

export function TaskPage({ taskId }: { readonly taskId: string }) {
  useEffect(() => {
    refusal.value = undefined
    load(taskId).catch((error: unknown) => {
      refusal.value = messageOf(error)
    })
  }, [taskId])
  const task = taskOf(taskId)
  if (task === undefined) {
    return refusal.value === undefined ? (
      <p class="empty">Loading…</p>
    ) : (
      <p class="refusal" role="alert">
        {refusal.value}
      </p>
    )
  }
  return (
    <article class="task" data-state={task.state}>
      <header>
        <h1>{task.title || task.taskId}</h1>
        <p class="sentence" aria-live="polite">
          <span class="state">{task.state}</span> {task.says}
        </p>
        <p class="facts">
          {task.agent} · in this state for <Age since={task.since} /> · turn {task.turn} ·{' '}
          <code>{task.taskId}</code>
          {task.usage['costUsd'] ? ` · ${task.usage['costUsd'].toFixed(4)} USD` : ''}
        </p>
      </header>
      <Actions task={task} />
      <WaitCard task={task} />
      <Webhooks taskId={taskId} version={task.version} />
      <div class="columns">
        <Conversation task={task} />
        <Timeline taskId={taskId} version={task.version} />
      </div>
    </article>
  )
}
