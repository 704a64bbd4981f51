/**
 * A question, answered where it is read.
 *
 * Q1  An answer that is sent counts as given at once. A refusal brings the form back, with what was typed.
 * Q2  A question that somebody else answered stays where it was, and says that nothing of the reader was sent.
 */
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Json } from '../../../src/core/values/json.ts'
import { actsOn } from '../acts.ts'
import { beginToAnswer } from '../keys.ts'
import { lookOf } from '../looks.ts'
import { messageOf, ops } from '../server.ts'
import { type Known, load, lostSince, taskOf } from '../tasks.ts'
import { Problem } from './field.tsx'
import { Link } from './link.tsx'
import { HeldMark, Shape, StateMark } from './marks.tsx'
import { AnswerFields, answerIn } from './schema-form.tsx'
import { Age, Countdown } from './times.tsx'

/** What became of a question on this page. */
export type Fate = 'open' | 'answered' | 'granted' | 'denied' | 'taken'

/** One question of a task: the next one of the same task is another. */
export function questionKey({ taskId, since, question }: Known): string {
  return `${taskId} ${question?.consentId ?? `${since} ${question?.prompt}`}`
}

interface QuestionProps {
  readonly task: Known
  /** Shown on the page of the task itself. */
  readonly alone?: boolean
  /** @param note what the server said */
  readonly onFate: (fate: Fate, note?: string) => void
}

export function QuestionCard({ task, alone = false, onFate }: QuestionProps) {
  const { taskId, question } = task
  const heading = useId()
  const refusal = useSignal<string | undefined>(undefined)
  if (question === undefined) return null
  const refused = actsOn(task).answer?.refused

  async function send(fate: Fate, answer: () => Promise<unknown>): Promise<void> {
    refusal.value = undefined
    // Q1.
    onFate(fate)
    try {
      await answer()
    } catch (error) {
      const asked = questionKey(task)
      await load(taskId).catch(() => undefined)
      const current = taskOf(taskId)
      const isOpen = current?.question !== undefined && questionKey(current) === asked
      // Q2.
      onFate(isOpen ? 'open' : 'taken', messageOf(error))
      refusal.value = messageOf(error)
    }
  }

  return (
    <article
      class="q"
      aria-labelledby={heading}
      data-item={alone ? undefined : 'question'}
      tabIndex={alone ? undefined : -1}
      onKeyDown={(event) => {
        // The card itself has the focus: begin to answer.
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return
        event.preventDefault()
        beginToAnswer(event.currentTarget)
      }}
    >
      <div class="ask-part">
        <div class="row wrap small">
          <StateMark look={lookOf(task)} />
          <span class="quiet">{task.agent}</span>
          {!alone && (
            <Link to={{ page: 'task', taskId }} class="quiet">
              {task.title || taskId}
            </Link>
          )}
          <span class="push quiet">
            waits <Age since={task.since} />
          </span>
        </div>
        <h2 id={heading}>{question.prompt}</h2>
        {question.consentId === undefined ? (
          <AnswerForm task={task} refused={refused} send={send} />
        ) : (
          <ConsentForm task={task} refused={refused} send={send} />
        )}
        {refusal.value !== undefined && <Problem text={refusal.value} />}
      </div>
      <About task={task} />
    </article>
  )
}

interface FormProps {
  readonly task: Known
  readonly refused: string | undefined
  readonly send: (fate: Fate, answer: () => Promise<unknown>) => Promise<void>
}

function AnswerForm({ task, refused, send }: FormProps) {
  const why = useId()
  const { taskId, question = { prompt: '' } } = task
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const answer = answerIn(new FormData(event.currentTarget), question)
        const content = typeof answer === 'string' ? answer : (answer.data as Json)
        send('answered', () => ops().answer(taskId, { answer: content })).catch(() => undefined)
      }}
    >
      <AnswerFields question={question} />
      <div class="acts">
        <button
          type="submit"
          class="primary"
          disabled={lostSince.value !== undefined || refused !== undefined}
          aria-describedby={refused === undefined ? undefined : why}
        >
          Answer
        </button>
        {refused !== undefined && (
          <span class="small quiet" id={why}>
            {refused}
          </span>
        )}
      </div>
    </form>
  )
}

function ConsentForm({ task, refused, send }: FormProps) {
  const why = useId()
  const { taskId, question } = task
  const consentId = question?.consentId ?? ''
  const off = lostSince.value !== undefined || refused !== undefined
  const decide = (decision: 'granted' | 'denied') => () => {
    send(decision, () => ops().answer(taskId, { consentId, decision })).catch(() => undefined)
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Operation operation={question?.operation} />
      <div class="acts">
        <button
          type="button"
          class="primary"
          disabled={off}
          aria-describedby={refused === undefined ? undefined : why}
          onClick={decide('granted')}
        >
          Grant
        </button>
        <button type="button" class="danger" disabled={off} onClick={decide('denied')}>
          Deny
        </button>
        {refused !== undefined && (
          <span class="small quiet" id={why}>
            {refused}
          </span>
        )}
      </div>
    </form>
  )
}

/** What is asked for. Its members are rows; what has no members is shown as it is. */
function Operation({ operation }: { readonly operation: unknown }) {
  const isObject = typeof operation === 'object' && operation !== null && !Array.isArray(operation)
  if (!isObject) return <pre>{JSON.stringify(operation, null, 2)}</pre>
  return (
    <dl class="op">
      {Object.entries(operation).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}</dd>
        </div>
      ))}
    </dl>
  )
}

function About({ task }: { readonly task: Known }) {
  const { question, held, dueAt } = task
  return (
    <aside>
      {question?.digest !== undefined && (
        <div>
          <b>Bound to</b>
          <br />
          exactly what you see, <code>{question.digest.slice(0, 12)}</code>
        </div>
      )}
      <div>
        <b>Started by</b>
        <br />
        {task.principal}
      </div>
      {dueAt !== undefined && (
        <div>
          <b>Expires</b>
          <br />
          <Countdown task={task} />
        </div>
      )}
      {held && (
        <div>
          <HeldMark /> Your answer is <b>kept until the hold is lifted</b>.{' '}
          <Link to={{ page: 'operations' }}>See the hold</Link>
        </div>
      )}
    </aside>
  )
}

const words: Readonly<Record<Exclude<Fate, 'open'>, string>> = {
  answered: 'was answered by you.',
  granted: 'was granted by you.',
  denied: 'was denied by you.',
  taken: 'was answered by somebody else before you. Nothing of yours was sent.',
}

/** What is left of a question on the page. */
export function Settled({
  task,
  fate,
  note,
}: {
  readonly task: Known
  readonly fate: Fate
  /** Who was faster, as the server told. */
  readonly note?: string | undefined
}) {
  if (fate === 'open') return null
  const isKept = task.held && fate !== 'taken'
  return (
    <div class="line" role="status">
      <Shape
        shape={fate === 'denied' ? 'canceled' : 'completed'}
        tone={fate === 'denied' ? 'off' : 'done'}
      />
      <p>
        <b>{task.question?.prompt}</b> {words[fate]}
        {isKept && ' It is kept until the hold is lifted.'}
        {note !== undefined && <span class="quiet"> {note}</span>}
      </p>
      <Link to={{ page: 'task', taskId: task.taskId }} class="nowrap">
        See it
      </Link>
    </div>
  )
}
