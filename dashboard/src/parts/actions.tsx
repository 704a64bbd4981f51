/** What can be done to a task, by its state. */

import { pauseModes } from '../../../src/core/suspension.ts'
import type { Json } from '../../../src/core/values/json.ts'
import { clientFor } from '../server.ts'
import type { Known } from '../tasks.ts'
import { Act, jsonIn, textIn } from './act.tsx'
import { JsonField } from './json-field.tsx'
import { AnswerFields, answerIn } from './schema-form.tsx'

/** The answer is not waited for: the page sees what becomes of the task. */
const now = { returnImmediately: true }

const ended = ['completed', 'failed', 'canceled', 'rejected']

export function Actions({ task }: { readonly task: Known }) {
  if (ended.includes(task.state)) return null
  const client = clientFor(task)
  const { taskId, stop } = task
  const paused = task.state.startsWith('paused')
  const wanted = stop?.inputSchema === undefined ? undefined : { schema: stop.inputSchema }
  return (
    <div class="actions">
      {(task.state === 'working' || task.state === 'submitted') && (
        <Act
          label="Pause"
          shortcut="p"
          about="The task stops at its next boundary and keeps its place."
          act={(form) =>
            client.pause(taskId, {
              reason: textIn(form, 'reason'),
              mode: pauseModes.find((mode) => mode === form.get('mode')),
            })
          }
        >
          <label>
            Reason
            <input name="reason" maxLength={1_000} />
          </label>
          <label>
            Mode
            <select name="mode">
              <option value="finish_step">after the running step</option>
              <option value="interrupt_immediate">now: interrupt the running step</option>
              <option value="wait_for_completion">after the running turn</option>
            </select>
          </label>
        </Act>
      )}
      {paused && (
        // The key ties the form to this stop, as in the form of an answer.
        <Act
          key={stop?.handle}
          label="Resume"
          shortcut="r"
          kind="primary"
          about="The task goes on where it stopped."
          act={async (form) =>
            client.resume(taskId, {
              handle: stop?.handle,
              input: (wanted === undefined
                ? jsonIn(form, 'input')
                : dataOf(answerIn(form, wanted))) as Json | undefined,
            })
          }
        >
          {wanted === undefined ? (
            <JsonField label="Input for the agent" name="input" />
          ) : (
            <AnswerFields question={wanted} label="Input" />
          )}
        </Act>
      )}
      <Answer task={task} />
      <Act
        label="Remind"
        shortcut="m"
        about="The agent sees the reminder in its next turn. It is not a message of the user."
        act={(form) => client.remind(taskId, textIn(form, 'body') ?? '')}
      >
        <label>
          Reminder
          <textarea name="body" rows={3} required maxLength={16_384} />
        </label>
      </Act>
      <Act
        label="Cancel task"
        shortcut="c"
        kind="danger"
        about="The task ends for good. This cannot be undone."
        act={() => client.cancel(taskId)}
      />
    </div>
  )
}

/** A text stands for itself. */
function dataOf(answer: ReturnType<typeof answerIn>): unknown {
  return typeof answer === 'string' ? answer : answer.data
}

function Answer({ task }: { readonly task: Known }) {
  const { taskId, question } = task
  if (question === undefined || task.state.startsWith('paused')) return null
  const client = clientFor(task)
  const { consentId, operation, digest } = question
  if (consentId === undefined) {
    return (
      // The key ties the form to this question: another one gets fields of its own, also with the same prompt.
      <Act
        key={`${task.since} ${question.prompt}`}
        label="Answer"
        shortcut="a"
        kind="primary"
        about={question.prompt}
        act={async (form) => {
          const answer = answerIn(form, question)
          const content = typeof answer === 'string' ? answer : [{ data: answer.data as Json }]
          return client.answer(taskId, content, now)
        }}
      >
        <AnswerFields question={question} />
      </Act>
    )
  }
  const exact = <pre>{JSON.stringify(operation, null, 2)}</pre>
  return (
    <>
      <Act
        label="Grant"
        shortcut="a"
        kind="primary"
        about={`${question.prompt} Consent counts for exactly this operation (${digest?.slice(0, 12)}):`}
        act={() => client.answer(taskId, { consent: 'granted', consentId }, now)}
      >
        {exact}
      </Act>
      <Act
        label="Deny"
        shortcut="d"
        kind="danger"
        about={`${question.prompt} The agent is told that this was denied:`}
        act={() => client.answer(taskId, { consent: 'denied', consentId }, now)}
      >
        {exact}
      </Act>
    </>
  )
}
