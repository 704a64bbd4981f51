/** Every task by state: what needs somebody, what works, what is stopped, what is done. */
import { useLayoutEffect } from 'preact/hooks'
import { matchesSearch } from '../../../src/wire/search.ts'
import { keepFocus } from '../keys.ts'
import { withHits } from '../known-tasks.ts'
import { hits, Search, searched } from '../parts/search.tsx'
import { TaskCard } from '../parts/task-card.tsx'
import { follow, pathOf } from '../router.ts'
import { type Column, columns, counts, newestFirst, total } from '../tasks.ts'

const agents = { page: 'agents' } as const

/** How many cards a column shows at first. */
const SHOWN = 50

export function Board() {
  // Before the next key can arrive.
  useLayoutEffect(keepFocus, [newestFirst.value])
  if (total.value === 0) return <Welcome />
  return (
    <>
      <h1 class="hidden">Board</h1>
      <Search />
      <div class="board">
        {columns.map((column) => (
          <BoardColumn key={column.title} column={column} />
        ))}
      </div>
    </>
  )
}

function BoardColumn({ column }: { readonly column: Column }) {
  const { title, states, empty } = column
  const words = searched.value
  const all = words === '' ? newestFirst.value : withHits(newestFirst.value, hits.value)
  const tasks = all.filter((task) => states.includes(task.state) && matchesSearch(task, words))
  const count = states.reduce((sum, state) => sum + (counts.value[state] ?? 0), 0)
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="count">{count}</span>
      </h2>
      {tasks.length === 0 ? (
        <p class="empty">{words === '' ? empty : 'Nothing found.'}</p>
      ) : (
        <ol class="cards">
          {tasks.slice(0, SHOWN).map((task) => (
            <TaskCard key={task.taskId} task={task} />
          ))}
        </ol>
      )}
      {(words === '' ? count : tasks.length) > SHOWN && (
        <p class="empty">The newest {SHOWN} are shown.</p>
      )}
    </section>
  )
}

function Welcome() {
  return (
    <div class="welcome">
      <h1>No task yet</h1>
      <p>Send a message to an agent, and its task appears here:</p>
      <pre>lull send {location.origin} "Hello"</pre>
      <p>In a clone of Lull, write `npm run -s lull --` in place of `lull`.</p>
      <p>
        Or write to an agent on the page{' '}
        <a href={pathOf(agents)} onClick={(event) => follow(event, agents)}>
          Agents
        </a>
        .
      </p>
    </div>
  )
}
