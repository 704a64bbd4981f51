/** Where the task is in time, and what a stopped one waits for, with the way out beside it. */
import { lookOf } from '../looks.ts'
import { emit } from '../server.ts'
import type { Known } from '../tasks.ts'
import { Act, jsonIn } from './act.tsx'
import { JsonField } from './field.tsx'
import { Shape } from './marks.tsx'
import { Strip } from './strip.tsx'
import { entries } from './timeline.tsx'
import { Countdown } from './times.tsx'

export function NowPanel({ task }: { readonly task: Known }) {
  const { stop, says, mayStillAct } = task
  return (
    <section class="panel" aria-label="Now">
      <header>
        <Shape {...lookOf(task)} />
        <h2 class="sentence" aria-live="polite">
          {says}
        </h2>
        {task.dueAt !== undefined && (
          <span class="push">
            <Countdown task={task} />
          </span>
        )}
      </header>
      {stop?.summary !== undefined && <p class="pad quiet">{stop.summary}</p>}
      {mayStillAct !== undefined && (
        <p class="pad">
          <b>May still act:</b> {mayStillAct.join(', ')}. It was told to stop, and did not.
        </p>
      )}
      <Strip entries={entries.value} />
      <SendEvent task={task} />
    </section>
  )
}

function SendEvent({ task }: { readonly task: Known }) {
  const { stop } = task
  const onEvent = stop && eventIn(stop.conditions)
  if (stop === undefined || onEvent === undefined || task.pausing) return null
  return (
    <footer class="row wrap">
      <span>The event did not come?</span>
      {/* The key ties the form to this stop: after a wake it belongs to nothing. */}
      <Act
        key={stop.handle}
        label="Send this event now"
        shortcut="e"
        kind="plain"
        about={`Sends ${onEvent} to the server, from "lull/dashboard". Every task that waits for it wakes.`}
        act={(form) => {
          const [type = '', ...subject] = onEvent.split(':')
          const given = subject.length === 0 ? undefined : subject.join(':')
          return emit(task, type, given, jsonIn(form, 'data'))
        }}
      >
        <JsonField label="Data" name="data" initial={'{"status": "passed"}'} />
      </Act>
    </footer>
  )
}

function eventIn(conditions: unknown): string | undefined {
  if (typeof conditions !== 'object' || conditions === null || !('onEvent' in conditions)) return
  return typeof conditions.onEvent === 'string' ? conditions.onEvent : undefined
}
