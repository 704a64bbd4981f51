import type { Known } from '../tasks.ts'
import { Link } from './link.tsx'
import { HeldMark, StateShape } from './marks.tsx'
import { Age, Countdown } from './times.tsx'

/** One task in a column of the board. */
export function TaskCard({ task }: { readonly task: Known }) {
  return (
    <li class="card" data-state={task.state}>
      <h3>
        <StateShape task={task} />
        <Link to={{ page: 'task', taskId: task.taskId }}>{task.title || task.taskId}</Link>
      </h3>
      <p class="says">{task.says}</p>
      {(task.held || task.dueAt !== undefined) && (
        <p class="due">
          {task.held && <HeldMark />} <Countdown task={task} />
        </p>
      )}
      {task.progress !== undefined && <progress value={task.progress} aria-label="progress" />}
      <p class="meta">
        <span>{task.agent}</span>
        <Age since={task.since} />
      </p>
    </li>
  )
}
