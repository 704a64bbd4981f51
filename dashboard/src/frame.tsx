/** What every page has: navigation, the search, who is signed in, and whether the page is live. */
import type { ComponentChildren } from 'preact'
import { Find } from './parts/find.tsx'
import { Link } from './parts/link.tsx'
import { HeldMark, Icon, Mark } from './parts/marks.tsx'
import { type PageName, pages, place } from './router.ts'
import { canSignOut, signOut, who } from './server.ts'
import { asked, holdsInEffect, lostSince, problem } from './tasks.ts'

const sections: readonly { readonly title?: string; readonly pages: readonly PageName[] }[] = [
  { pages: ['overview', 'board', 'tasks', 'waiting'] },
  { title: 'Work', pages: ['agents', 'schedules', 'budgets'] },
  { title: 'Running', pages: ['operations', 'processes', 'audit'] },
]
/** What a phone shows in its one row. The others are under More. */
const [first, ...others] = sections
const inMore = others.flatMap((section) => section.pages)

export function Frame({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <div class="side">
          <Link to={{ page: 'overview' }} class="brand">
            <Mark />
            Lull
          </Link>
          <Find />
          <nav aria-label="Pages">
            {sections.map((section) => (
              <div key={section.title}>
                {section.title !== undefined && <p>{section.title}</p>}
                <ul>
                  {section.pages.map((page) => (
                    <Entry key={page} page={page} />
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          <footer>
            <span class={lostSince.value === undefined ? 'live' : 'live away'}>
              {lostSince.value === undefined ? 'Live' : 'Not live'}
            </span>
            <SignedIn />
          </footer>
        </div>
        <header class="top">
          <Link to={{ page: 'overview' }} class="brand">
            <Mark />
            Lull
          </Link>
          <Link to={{ page: 'tasks' }} class="btn push">
            <Icon name="search" />
            <span class="hidden">Find a task</span>
          </Link>
        </header>
        <main id="main">
          <Connection />
          {children}
        </main>
        <Tabs />
      </div>
    </>
  )
}

function Entry({ page }: { readonly page: PageName }) {
  const isCurrent = pageShown() === page
  return (
    <li>
      <Link to={{ page }} current={isCurrent ? 'page' : false}>
        <Icon name={page} />
        <span>{pages[page]}</span>
        {page === 'waiting' && <Asked />}
        {page === 'operations' && <Holds />}
      </Link>
    </li>
  )
}

/** The entry that a task's page belongs to is the list of tasks. */
const pageShown = (): PageName => (place.value.page === 'task' ? 'tasks' : place.value.page)

function Tabs() {
  return (
    <nav class="tabs" aria-label="Pages">
      <ul>
        {first?.pages.map((page) => (
          <Entry key={page} page={page} />
        ))}
        <li>
          {/* Another place closes it. */}
          <details key={JSON.stringify(place.value)}>
            <summary aria-current={inMore.includes(pageShown()) ? 'true' : undefined}>
              <Icon name="more" />
              <span>More</span>
            </summary>
            <ul class="sheet">
              {inMore.map((page) => (
                <Entry key={page} page={page} />
              ))}
            </ul>
          </details>
        </li>
      </ul>
    </nav>
  )
}

function Asked() {
  if (asked.value === 0) return null
  return (
    <span class="count ask">
      {asked.value}
      <span class="hidden"> tasks ask a person</span>
    </span>
  )
}

function Holds() {
  const { length } = holdsInEffect.value
  if (length === 0) return null
  return <HeldMark text={`${length}`} />
}

function SignedIn() {
  const me = who.value
  if (me === undefined) return null
  return (
    <>
      <span class="row spread">
        <span class="cut">{me.principal}</span>
        {canSignOut.value && (
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        )}
      </span>
      <span>
        Tenant <b>{me.tenant === '*' ? 'all' : me.tenant}</b>
      </span>
    </>
  )
}

/** What did not work, since when, and what goes on meanwhile. The page keeps its last figures. */
function Connection() {
  const since = lostSince.value
  if (since === undefined && problem.value === undefined) return null
  return (
    <div class="notice bad" role="alert">
      <p>
        {since === undefined ? (
          <b>{problem.value}</b>
        ) : (
          <>
            <b>Not live since {since.toLocaleTimeString()}: the server does not answer.</b> What you
            see is from then. Tasks do not depend on this page. It tries again by itself.
          </>
        )}
      </p>
    </div>
  )
}
