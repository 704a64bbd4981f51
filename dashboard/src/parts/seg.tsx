import { place, query } from '../router.ts'
import { Link } from './link.tsx'

/** Board and table show the same tasks. The words of a search go along. */
export function Looks() {
  const { page } = place.value
  const { q } = query.value
  return (
    <nav class="seg" aria-label="Look">
      <Link to={{ page: 'board', query: { q } }} current={page === 'board'}>
        Board
      </Link>
      <Link to={{ page: 'tasks', query: { q } }} current={page === 'tasks'}>
        Table
      </Link>
    </nav>
  )
}
