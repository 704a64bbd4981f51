/** The page: navigation, the connection bar, and the place that the address names. */
import { type ComponentChild, type ComponentChildren, type RefObject, render } from 'preact'
import { useErrorBoundary, useRef } from 'preact/hooks'
import { listenToKeys } from './keys.ts'
import { Agents } from './pages/agents.tsx'
import { Audit } from './pages/audit.tsx'
import { Board } from './pages/board.tsx'
import { Budgets } from './pages/budgets.tsx'
import { Login } from './pages/login.tsx'
import { Operations } from './pages/operations.tsx'
import { Processes } from './pages/processes.tsx'
import { Schedules } from './pages/schedules.tsx'
import { TaskPage } from './pages/task.tsx'
import { Waiting } from './pages/waiting.tsx'
import { forgetPolled } from './polled.tsx'
import { follow, type PageName, type Place, pathOf, place } from './router.ts'
import { messageOf, needsKey } from './server.ts'
import { counts, keepCurrent, lostSince, problem } from './tasks.ts'

const links: readonly { readonly to: Place; readonly text: string }[] = [
  { to: { page: 'board' }, text: 'Board' },
  { to: { page: 'waiting' }, text: 'Waiting' },
  { to: { page: 'agents' }, text: 'Agents' },
  { to: { page: 'schedules' }, text: 'Schedules' },
  { to: { page: 'operations' }, text: 'Operations' },
  { to: { page: 'budgets' }, text: 'Budgets' },
  { to: { page: 'processes' }, text: 'Processes' },
  { to: { page: 'audit' }, text: 'Audit' },
]

let openHelp = (): void => undefined

function Page() {
  const here = place.value
  const help = useRef<HTMLDialogElement>(null)
  openHelp = () => help.current?.showModal()
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav aria-label="Pages">
        <strong>Lull</strong>
        {links.map(({ to, text }) => (
          <a
            key={text}
            href={pathOf(to)}
            aria-current={here.page === to.page ? 'page' : undefined}
            onClick={(event) => follow(event, to)}
          >
            {text}
            {to.page === 'waiting' && <Asked />}
          </a>
        ))}
        <button type="button" onClick={() => openHelp()}>
          Keys
          <span class="key" aria-hidden="true">
            ?
          </span>
        </button>
      </nav>
      <Connection />
      <main id="main">
        <Guarded key={pathOf(here)}>{needsKey.value ? <Login /> : pageAt(here)}</Guarded>
      </main>
      <Help dialog={help} />
    </>
  )
}

/** Says what happened when a page could not be drawn. The other pages stay usable. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error, drawAgain] = useErrorBoundary(forgetPolled)
  if (error === undefined) return <>{children}</>
  return (
    <div role="alert">
      <h1>This page could not be drawn</h1>
      <p class="refusal">{messageOf(error)}</p>
      <p>
        The tasks go on. The command line shows and controls them as well:{' '}
        <code>lull tasks watch</code>.
      </p>
      <button type="button" onClick={drawAgain}>
        Draw it again
      </button>
    </div>
  )
}

const views: Readonly<Record<PageName, () => ComponentChild>> = {
  board: () => <Board />,
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

function Asked() {
  const states = ['user-consent-required', 'input-required', 'auth-required']
  const asked = states.reduce((sum, state) => sum + (counts.value[state] ?? 0), 0)
  return asked === 0 ? null : <span class="count">{asked}</span>
}

function Connection() {
  const since = lostSince.value
  if (since === undefined && problem.value === undefined) return null
  const text =
    since === undefined
      ? problem.value
      : `Not live since ${since.toLocaleTimeString()}: the server cannot be reached. Trying again.`
  return (
    <p class="lost" role="status">
      {text}
    </p>
  )
}

function Help({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }) {
  const keys = [
    ['g b, g w, g n', 'board, waiting, agents'],
    ['g s, g o, g u', 'schedules, operations, budgets'],
    ['g p, g a', 'processes, audit'],
    ['/', 'search'],
    ['j, k', 'next and previous task'],
    ['Enter', 'open the task'],
    ['p, r, c', 'pause, resume, cancel'],
    ['a, d', 'answer or grant, deny'],
    ['m', 'remind'],
    ['e', 'send the event it waits for'],
    ['h', 'hold (operations)'],
  ]
  return (
    <dialog ref={dialog} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}

const root = document.querySelector('#page')
if (root !== null) render(<Page />, root)
listenToKeys(() => openHelp())
keepCurrent().catch(() => undefined)
