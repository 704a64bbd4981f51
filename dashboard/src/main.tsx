/** The page: the place that the address names, in the frame of every page. */
import { signal } from '@preact/signals'
import { type ComponentChild, type ComponentChildren, type RefObject, render } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import { Frame } from './frame.tsx'
import { keyList, listenToKeys } from './keys.ts'
import { Agents } from './pages/agents.tsx'
import { Audit } from './pages/audit.tsx'
import { Board } from './pages/board.tsx'
import { Budgets } from './pages/budgets.tsx'
import { Login } from './pages/login.tsx'
import { Operations } from './pages/operations.tsx'
import { Overview } from './pages/overview.tsx'
import { Processes } from './pages/processes.tsx'
import { Schedules } from './pages/schedules.tsx'
import { TaskPage } from './pages/task.tsx'
import { Tasks } from './pages/tasks.tsx'
import { Waiting } from './pages/waiting.tsx'
import { forgetPolled } from './polled.tsx'
import { type PageName, type Place, pages, place } from './router.ts'
import { loadSession, messageOf, needsKey } from './server.ts'
import { keepCurrent, taskOf } from './tasks.ts'

const openHelp = signal<() => void>(() => undefined)

function Page() {
  const here = place.value
  const help = useRef<HTMLDialogElement>(null)
  const name = here.page === 'task' ? `task ${here.taskId}` : here.page
  const title = needsKey.value ? 'Sign in' : titleOf(here)
  useEffect(() => {
    openHelp.value = () => help.current?.showModal()
  }, [])
  useEffect(() => {
    document.title = `${title} · Lull`
  }, [title])
  if (needsKey.value) return <Login />
  return (
    <>
      <Frame>
        <Guarded key={name}>{pageAt(here)}</Guarded>
      </Frame>
      <Help dialog={help} />
    </>
  )
}

function titleOf(here: Place): string {
  if (here.page !== 'task') return pages[here.page]
  return taskOf(here.taskId)?.title || 'Task'
}

/** Says what happened when a page could not be drawn. The other pages stay usable. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error, drawAgain] = useErrorBoundary(forgetPolled)
  if (error === undefined) return <>{children}</>
  return (
    <div role="alert" class="stack">
      <h1>This page could not be drawn</h1>
      <p class="refusal">{messageOf(error)}</p>
      <p>
        The tasks go on. The command line shows and controls them as well:{' '}
        <code>lull tasks watch</code>.
      </p>
      <p>
        <button type="button" onClick={drawAgain}>
          Draw it again
        </button>
      </p>
    </div>
  )
}

const views: Readonly<Record<PageName, () => ComponentChild>> = {
  overview: () => <Overview />,
  board: () => <Board />,
  tasks: () => <Tasks />,
  waiting: () => <Waiting />,
  operations: () => <Operations />,
  agents: () => <Agents />,
  budgets: () => <Budgets />,
  schedules: () => <Schedules />,
  processes: () => <Processes />,
  audit: () => <Audit />,
}

function pageAt(here: Place) {
  if (here.page === 'task') return <TaskPage key={here.taskId} taskId={here.taskId} />
  return views[here.page]()
}

function Help({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} class="dialog" aria-label="Keys">
      <header>
        <h2>Keys</h2>
      </header>
      <div class="form">
        <dl class="rows">
          {keyList.map(([keys, about]) => (
            <div key={keys}>
              <dt>
                <kbd class="kbd">{keys}</kbd>
              </dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
      </div>
      <footer>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </footer>
    </dialog>
  )
}

const root = document.querySelector('#page')
// Whoever has signed in is asked for first, because it decides how the pages ask for the rest.
loadSession()
  .then(() => {
    if (root !== null) render(<Page />, root)
    listenToKeys(() => openHelp.peek()())
    return keepCurrent()
  })
  .catch(() => undefined)
