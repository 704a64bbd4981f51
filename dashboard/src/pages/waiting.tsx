/**
 * What waits: first what a person can answer, in place, the longest wait first, then what wakes by itself.
 *
 * W1  A question that was here stays here until the reader leaves the page, so that nothing moves under the pointer. When
 *     it is no longer open, a line says what became of it.
 */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { groups } from '../looks.ts'
import { Link } from '../parts/link.tsx'
import { AllDone, HeldMark, StateShape } from '../parts/marks.tsx'
import { type Fate, QuestionCard, questionKey, Settled } from '../parts/question.tsx'
import { Countdown, When } from '../parts/times.tsx'
import { messageOf, ops } from '../server.ts'
import { asked, counts, type Known, learn, newestFirst, problem } from '../tasks.ts'

const asking = groups.find(({ id }) => id === 'ask')?.states ?? []
/** How many questions are loaded, and how many tasks that wake by themselves are listed. */
const MOST = 100
const LISTED = 20

const seen = signal<ReadonlyMap<string, Known>>(new Map())
const fates = signal<
  ReadonlyMap<string, { readonly fate: Fate; readonly note?: string | undefined }>
>(new Map())

export function Waiting() {
  const open = new Map(
    newestFirst.value
      .filter((task) => task.question !== undefined && asking.some((one) => one === task.state))
      .map((task) => [questionKey(task), task]),
  )
  // The counts may come later than the questions.
  const count = Math.max(asked.value, open.size)
  useEffect(() => {
    ops()
      .tasks({ states: asking, sort: 'changed', limit: MOST, counts: false })
      .then(
        (list) => learn(list.tasks),
        (error: unknown) => {
          problem.value = messageOf(error)
        },
      )
    return () => {
      seen.value = new Map()
      fates.value = new Map()
    }
  }, [])
  useEffect(() => {
    const unseen = [...open.keys()].some((one) => !seen.value.has(one))
    if (unseen) seen.value = new Map([...seen.value, ...open])
  })
  const questions = [...new Map([...seen.value, ...open])].sort(([, a], [, b]) =>
    a.since < b.since ? -1 : 1,
  )
  return (
    <>
      <div class="head">
        <h1>Waiting</h1>
        <span class="sub">
          {count === 0
            ? 'nobody is asked'
            : `${count === 1 ? '1 task asks' : `${count} tasks ask`} a person, the longest wait first`}
        </span>
        <div class="acts small quiet keys">
          <span>
            <kbd class="kbd">j</kbd> <kbd class="kbd">k</kbd> next, previous
          </span>
          <span>
            <kbd class="kbd">↵</kbd> answer
          </span>
        </div>
      </div>
      {questions.length === 0 && <Nobody />}
      <section class="queue" aria-label="Questions">
        {questions.map(([id, task]) => (
          <Question key={id} id={id} task={open.get(id) ?? task} isOpen={open.has(id)} />
        ))}
      </section>
      <Wakes />
    </>
  )
}

function Question({
  id,
  task,
  isOpen,
}: {
  readonly id: string
  readonly task: Known
  readonly isOpen: boolean
}) {
  // W1.
  const { fate, note } = fates.value.get(id) ?? { fate: isOpen ? 'open' : 'taken' }
  return (
    <>
      <Settled task={task} fate={fate} note={note} />
      {/* It stays, hidden, so that what was typed is there again after a refusal. */}
      <div hidden={fate !== 'open'}>
        <QuestionCard
          task={task}
          onFate={(to, said) => {
            fates.value = new Map([...fates.value, [id, { fate: to, note: said }]])
            if (to !== 'open') focusNext()
          }}
        />
      </div>
    </>
  )
}

/** The next question gets the focus of the one that was answered. */
function focusNext(): void {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-item=question]')]
  const here = cards.findIndex((card) => card.contains(document.activeElement))
  if (here < 0) return
  const isOpen = (card: HTMLElement): boolean => card.closest('[hidden]') === null
  const next = cards.slice(here + 1).find(isOpen) ?? cards.slice(0, here).find(isOpen)
  next?.focus()
}

function Nobody() {
  const parked = counts.value['paused-by-agent'] ?? 0
  return (
    <section class="panel" aria-label="Nobody is asked">
      <div class="empty">
        <AllDone />
        <h2>Nobody waits for you</h2>
        <p class="quiet">
          {parked === 0
            ? 'No task is parked either.'
            : `${parked} tasks are parked and wake by themselves.`}
        </p>
      </div>
    </section>
  )
}

function Wakes() {
  const stopped = newestFirst.value
    .filter(({ state }) => state.startsWith('paused'))
    .sort((a, b) => (a.dueOnPage ?? Infinity) - (b.dueOnPage ?? Infinity))
  const all = (counts.value['paused-by-agent'] ?? 0) + (counts.value['paused-by-client'] ?? 0)
  if (stopped.length === 0) return null
  return (
    <section class="panel" aria-label="For an event, a time or a resume">
      <header>
        <h2>Stopped, for an event, a time or a resume</h2>
        <span class="push">{all}, the next due first</span>
      </header>
      <table class="fold-table">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Wakes</th>
            <th scope="col">Since</th>
            <th scope="col" class="num">
              Due
            </th>
          </tr>
        </thead>
        <tbody>
          {stopped.slice(0, LISTED).map((task) => (
            <tr key={task.taskId}>
              <td>
                <span class="row">
                  <StateShape task={task} />
                  <Link class="t" to={{ page: 'task', taskId: task.taskId }}>
                    {task.title || task.taskId}
                  </Link>
                  {task.held && <HeldMark />}
                </span>
              </td>
              <td data-name="Wakes">{task.stop?.wakes}</td>
              <td data-name="Since">
                <When at={task.since} />
              </td>
              <td class="num due" data-name="Due">
                <Countdown task={task} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <Link to={{ page: 'tasks', query: { show: 'stop' } }}>All {all}</Link>
      </footer>
    </section>
  )
}
