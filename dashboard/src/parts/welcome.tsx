import { Link } from './link.tsx'
import { KeptPlace } from './marks.tsx'

/** What a new server shows: why there is nothing, and what would fill it. */
export function Welcome({ title }: { readonly title: string }) {
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
      </div>
      <section class="panel" aria-label="No task yet">
        <div class="empty">
          <KeptPlace />
          <h2>No task yet. Start one and it shows here.</h2>
          <p class="quiet">
            A task works, stops where it must, and keeps its place. In a clone of Lull, write{' '}
            <code>npm run -s lull --</code> in place of <code>lull</code>:
          </p>
          <pre>lull send {location.origin} "Hello"</pre>
          <div class="acts">
            <Link to={{ page: 'agents' }} class="btn primary">
              Start one here
            </Link>
          </div>
        </div>
      </section>
    </>
  )
}
