/** What a stopped task waits for: one row per way out, with the button that takes it. */
import { emit } from '../server.ts'
import type { Known } from '../tasks.ts'
import { Act, jsonIn } from './act.tsx'
import { Countdown } from './countdown.tsx'
import { JsonField } from './json-field.tsx'

export function WaitCard({ task }: { readonly task: Known }) {
  const { stop } = task
  if (stop === undefined) return null
  const onEvent = eventIn(stop.conditions)
  return (
    <section class="wait" aria-label="What it waits for">
      <h2>{task.pausing ? 'Comes to a stop' : 'Stopped'}</h2>
      <dl>
        <dt>By</dt>
        <dd>
          {stop.actor.kind} {stop.actor.id}
        </dd>
        {stop.reason !== undefined && (
          <>
            <dt>Reason</dt>
            <dd>{stop.reason}</dd>
          </>
        )}
        {task.mayStillAct !== undefined && (
          <>
            <dt>May still act</dt>
            <dd>{task.mayStillAct.join(', ')}: told to stop, and did not</dd>
          </>
        )}
        <dt>Wakes</dt>
        <dd>{stop.wakes}</dd>
        {task.dueAt !== undefined && (
          <>
            <dt>Next</dt>
            <dd>
              <Countdown task={task} />
            </dd>
          </>
        )}
      </dl>
      {onEvent !== undefined && !task.pausing && (
        // The key ties the form to this stop: after a wake it belongs to nothing.
        <Act
          key={stop.handle}
          label="Send this event now"
          shortcut="e"
          about={`Sends ${onEvent} to the server, from "lull/dashboard". Every task that waits for it wakes.`}
          act={(form) => {
            const [type = '', ...subject] = onEvent.split(':')
            const given = subject.length === 0 ? undefined : subject.join(':')
            return emit(task, type, given, jsonIn(form, 'data'))
          }}
        >
          <JsonField label="Data" name="data" initial={'{"status": "passed"}'} />
        </Act>
      )}
    </section>
  )
}

function eventIn(conditions: unknown): string | undefined {
  if (typeof conditions !== 'object' || conditions === null || !('onEvent' in conditions)) return
  return typeof conditions.onEvent === 'string' ? conditions.onEvent : undefined
}
