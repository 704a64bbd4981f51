/** A new task from the recorded past of this one, and what leaves the server: the export, the trace. */
import { useSignal } from '@preact/signals'
import type { TimelineEntry } from '../../../src/wire/ops/tasks.ts'
import { lacking } from '../acts.ts'
import { go } from '../router.ts'
import { messageOf, ops } from '../server.ts'
import type { Known } from '../tasks.ts'
import { Act, jsonIn, textIn } from './act.tsx'
import { Field, JsonField, Problem } from './field.tsx'
import { entries } from './timeline.tsx'

/** As many steps are offered, the newest first. */
const MOST = 100

const forkable: ReadonlySet<string> = new Set(['step', 'parked', 'asked', 'delegated'])

export function AnotherWay({ task }: { readonly task: Known }) {
  const points = entries.value
    .filter(({ event }) => forkable.has(event))
    .reverse()
    .slice(0, MOST)
  return (
    <section class="panel" aria-label="Go another way">
      <header>
        <h2>Go another way</h2>
      </header>
      <div class="pad form">
        <div class="acts">
          <Act
            label="Fork from a step"
            refused={
              points.length === 0
                ? 'It has no step yet.'
                : lacking('ops:control', 'tasks:control', 'tasks:control:all')
            }
            about="A new task that shares the past up to there. This one stays as it is."
            act={async (form) => {
              const forked = await ops().fork(task.taskId, {
                at: textIn(form, 'at') ?? '',
                input: jsonIn(form, 'input'),
                paused: form.get('paused') === 'on',
              })
              go({ page: 'task', taskId: forked.taskId })
            }}
          >
            <Field label="Runs next">
              {(id) => (
                <select id={id} name="at" required>
                  {points.map((entry) => (
                    <option key={entry.seq} value={entry.seq}>
                      {pointText(entry)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <JsonField label="Input" name="input" />
            <label class="choice">
              <input type="checkbox" name="paused" /> stays paused until it is resumed
            </label>
          </Act>
          <Export task={task} />
        </div>
      </div>
    </section>
  )
}

function pointText({ event, name, text, at }: TimelineEntry): string {
  const words = [event === 'step' ? name : event, event === 'step' ? undefined : text]
  return `${words.filter((word) => word !== undefined).join(': ')}, ${at.slice(11, 19)} UTC`
}

/** One file of JSON lines, as `lull export` writes it and `lull import` reads it. */
function Export({ task: { taskId } }: { readonly task: Known }) {
  const problem = useSignal<string | undefined>(undefined)
  const save = async (): Promise<void> => {
    problem.value = undefined
    try {
      const { header, records } = await ops().export(taskId)
      const lines = [header, ...records].map((line) => `${JSON.stringify(line)}\n`)
      const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
      const link = document.createElement('a')
      link.href = address
      link.download = `${taskId}.jsonl`
      link.click()
      setTimeout(() => URL.revokeObjectURL(address), 1_000)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return (
    <>
      <button type="button" onClick={save}>
        Export
      </button>
      {problem.value !== undefined && <Problem text={problem.value} />}
    </>
  )
}
