/** Every task by state: how many there are, and the newest of each column. */
import { useLayoutEffect } from 'preact/hooks'
import { matchesSearch } from '../../../src/wire/search.ts'
import { keepFocus } from '../keys.ts'
import { withHits } from '../known-tasks.ts'
import { countOf, type Group, groups, looks } from '../looks.ts'
import { Link } from '../parts/link.tsx'
import { Shape } from '../parts/marks.tsx'
import { Looks } from '../parts/seg.tsx'
import { TaskCard } from '../parts/task-card.tsx'
import { Welcome } from '../parts/welcome.tsx'
import { query } from '../router.ts'
import { hits, SearchProgress, useSearch } from '../search.tsx'
import { counts, type Known, newestFirst, total } from '../tasks.ts'

/** How many cards a column shows. The table has the others. */
const SHOWN = 20

export function Board() {
  const words = useSearch()
  // Before the next key can arrive.
  useLayoutEffect(keepFocus, [newestFirst.value])
  if (total.value === 0) return <Welcome title="Board" />
  const all = words === '' ? newestFirst.value : withHits(newestFirst.value, hits.value)
  const found = words === '' ? all : all.filter((task) => matchesSearch(task, words))
  const countsShown = words === '' ? counts.value : countsIn(found)
  const columns = groups.map((group) => ({
    group,
    counts: countsShown,
    tasks: found.filter(({ state }) => group.states.some((one) => one === state)),
  }))
  return (
    <>
      <div class="head">
        <h1>Board</h1>
        <span class="sub">
          {words === ''
            ? `${(total.value ?? 0).toLocaleString()} tasks, the newest of each state`
            : `${found.length.toLocaleString()} match “${words}”`}
        </span>
        <div class="acts">
          <Looks />
        </div>
      </div>
      <SearchProgress />
      <nav class="jump" aria-label="Columns">
        {columns.map(({ group }) => (
          <a key={group.id} href={`#column-${group.id}`}>
            <b class={group.id}>{countOf(countsShown, group.states)}</b>
            {group.short}
          </a>
        ))}
      </nav>
      <div class="board">
        {columns.map((column) => (
          <Column key={column.group.id} {...column} />
        ))}
      </div>
    </>
  )
}

interface ColumnProps {
  readonly group: Group
  readonly counts: Readonly<Record<string, number>>
  readonly tasks: readonly Known[]
}

function Column({ group, counts: all, tasks }: ColumnProps) {
  const { id, title, states, empty } = group
  const count = countOf(all, states)
  const q = query.value['q']
  return (
    <section class={`col ${id}`} id={`column-${id}`} aria-label={title}>
      <header>
        <h2>
          {title}
          <span class="total">{count.toLocaleString()}</span>
        </h2>
        <p>
          {states
            .filter((state) => (all[state] ?? 0) > 0)
            .map((state) => (
              <span class="nowrap" key={state}>
                <Shape {...looks[state]} /> {(all[state] ?? 0).toLocaleString()}{' '}
                {looks[state].word.toLowerCase()}
              </span>
            ))}
        </p>
      </header>
      {tasks.length === 0 ? (
        <p class="quiet">{q ? 'Nothing found.' : empty}</p>
      ) : (
        <ol class="cards">
          {tasks.slice(0, SHOWN).map((task) => (
            <TaskCard key={task.taskId} task={task} />
          ))}
        </ol>
      )}
      {count > SHOWN && (
        <Link class="all" to={{ page: 'tasks', query: { show: id, q } }}>
          All {count.toLocaleString()}
        </Link>
      )}
    </section>
  )
}

function countsIn(tasks: readonly Known[]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { state } of tasks) found[state] = (found[state] ?? 0) + 1
  return found
}
