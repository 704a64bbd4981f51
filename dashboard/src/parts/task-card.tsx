import { follow, pathOf } from '../router.ts'
import type { Known } from '../tasks.ts'
import { Age, Countdown } from './countdown.tsx'

/** One task in a list. The whole card is one link. */
export function TaskCard({ task }: { readonly task: Known }) {
  const to = { page: 'task', taskId: task.taskId } as const
  return (
    <li class="card" data-state={task.state}>
      <a href={pathOf(to)} onClick={(event) => follow(event, to)}>
        <span class="card-head">
          <span class="agent">{task.agent}</span>
          {task.held && <span class="mark">held</span>}
          {task.pausing && <span class="mark">pausing</span>}
          <span class="age">
            <Age since={task.since} />
          </span>
        </span>
        <span class="title">{task.title || task.taskId}</span>
        <span class="says">{task.says}</span>
        {task.progress !== undefined && <progress value={task.progress} aria-label="progress" />}
      </a>
      <span class="due">
        <Countdown task={task} />
      </span>
    </li>
  )
}
