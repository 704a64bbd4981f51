/** What can be done to a task, by its state and by what the reader may do. */
import { pauseModes } from '../../../src/core/suspension.ts'
import type { Json } from '../../../src/core/values/json.ts'
import { actsOn } from '../acts.ts'
import { ops } from '../server.ts'
import type { Known } from '../tasks.ts'
import { Act, jsonIn, textIn } from './act.tsx'
import { Field, JsonField, TextField } from './field.tsx'
import { AnswerFields, answerIn } from './schema-form.tsx'

interface OfTask {
  readonly task: Known
}

export function Actions({ task }: OfTask) {
  const { taskId } = task
  const { pause, resume, remind, cancel } = actsOn(task)
  return (
    <>
      {pause && <Pause task={task} />}
      {resume && <Resume task={task} />}
      {remind && (
        <Act
          label="Remind"
          shortcut="m"
          refused={remind.refused}
          about="The agent sees the reminder in its next turn. It is not a message of the user."
          act={(form) => ops().remind(taskId, { body: textIn(form, 'body') ?? '' })}
        >
          <TextField label="Reminder" name="body" rows={3} required maxLength={16_384} />
        </Act>
      )}
      {cancel && (
        <Act
          label="Cancel task"
          shortcut="c"
          kind="danger"
          refused={cancel.refused}
          about="The task ends for good. This cannot be undone."
          act={() => ops().cancel(taskId)}
        />
      )}
    </>
  )
}

function Pause({ task }: OfTask) {
  return (
    <Act
      label="Pause"
      shortcut="p"
      refused={actsOn(task).pause?.refused}
      about="The task stops at its next boundary and keeps its place."
      act={(form) =>
        ops().pause(task.taskId, {
          reason: textIn(form, 'reason'),
          mode: pauseModes.find((mode) => mode === form.get('mode')),
        })
      }
    >
      <TextField label="Reason" name="reason" maxLength={1_000} />
      <Field label="Mode">
        {(id) => (
          <select id={id} name="mode">
            <option value="finish_step">after the running step</option>
            <option value="interrupt_immediate">now: interrupt the running step</option>
            <option value="wait_for_completion">after the running turn</option>
          </select>
        )}
      </Field>
    </Act>
  )
}

function Resume({ task }: OfTask) {
  const { stop } = task
  const wanted = stop?.inputSchema === undefined ? undefined : { schema: stop.inputSchema }
  return (
    // The key ties the form to this stop: another one gets fields of its own.
    <Act
      key={stop?.handle}
      label="Resume"
      shortcut="r"
      kind="primary"
      refused={actsOn(task).resume?.refused}
      about="The task goes on where it stopped."
      act={async (form) =>
        ops().resume(task.taskId, {
          handle: stop?.handle,
          input: (wanted === undefined ? jsonIn(form, 'input') : dataOf(answerIn(form, wanted))) as
            | Json
            | undefined,
        })
      }
    >
      {wanted === undefined ? (
        <JsonField label="Input for the agent" name="input" />
      ) : (
        <AnswerFields question={wanted} label="Input" />
      )}
    </Act>
  )
}

/** A text stands for itself. */
function dataOf(answer: ReturnType<typeof answerIn>): unknown {
  return typeof answer === 'string' ? answer : answer.data
}
