/** What waits, the oldest first: first what a person can answer, then what wakes by itself. */
import { TaskCard } from '../parts/task-card.tsx'
import { newestFirst } from '../tasks.ts'

const asking = ['user-consent-required', 'input-required', 'auth-required']

export function Waiting() {
  const oldest = [...newestFirst.value].reverse()
  const people = oldest.filter(({ state }) => asking.includes(state))
  const stopped = oldest
    .filter(({ state }) => state.startsWith('paused'))
    .sort((a, b) => (a.dueOnPage ?? Infinity) - (b.dueOnPage ?? Infinity))
  return (
    <>
      <h1>Waiting</h1>
      <section aria-label="For an answer">
        <h2>
          For an answer <span class="count">{people.length}</span>
        </h2>
        {people.length === 0 && <p class="empty">Nobody is asked for anything.</p>}
        <ol class="cards wide">
          {people.map((task) => (
            <TaskCard key={task.taskId} task={task} />
          ))}
        </ol>
      </section>
      <section aria-label="For an event, a time or a resume">
        <h2>
          For an event, a time or a resume <span class="count">{stopped.length}</span>
        </h2>
        {stopped.length === 0 && <p class="empty">No task is parked or paused.</p>}
        <ol class="cards wide">
          {stopped.map((task) => (
            <TaskCard key={task.taskId} task={task} />
          ))}
        </ol>
      </section>
    </>
  )
}
