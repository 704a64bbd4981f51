/** The field that finds a task. On the board and in the table it narrows what is shown, elsewhere it leads to the table. */
import { go, narrow, place, query } from '../router.ts'

export function Find() {
  const { page } = place.value
  const narrows = page === 'board' || page === 'tasks'
  return (
    <search class="find">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const words = new FormData(event.currentTarget).get('q')
          if (!narrows && typeof words === 'string') go({ page: 'tasks', query: { q: words } })
        }}
      >
        <label class="hidden" htmlFor="search">
          Search tasks
        </label>
        <input
          // Another page begins with an empty field.
          key={narrows ? page : 'other'}
          id="search"
          name="q"
          type="search"
          placeholder="Find a task"
          maxLength={200}
          value={narrows ? (query.value['q'] ?? '') : ''}
          onInput={(event) => {
            // Another filter or order begins on its first page.
            if (narrows) narrow({ q: event.currentTarget.value, after: undefined })
          }}
        />
        <span class="kbd" aria-hidden="true">
          /
        </span>
      </form>
    </search>
  )
}
