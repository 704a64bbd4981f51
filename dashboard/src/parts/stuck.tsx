/** Tasks that a policy stopped, by what is wrong with them, each beside what mends it. */
import type { TaskSummary } from '../../../src/wire/ops/tasks.ts'
import { actsOn } from '../acts.ts'
import { createPolled } from '../polled.tsx'
import { ops } from '../server.ts'
import { Act } from './act.tsx'
import { Link } from './link.tsx'
import { AllDone, Shape } from './marks.tsx'

/** As many as are looked at. */
const MOST = 100

export const stuckTasks = createPolled(async () => {
  const { tasks } = await ops().tasks({ states: ['paused-by-client'], limit: MOST, counts: false })
  return tasks.filter(({ stop }) => stop?.actor.kind === 'policy')
})

interface Kind {
  readonly about: string
  /** What mends it. */
  readonly advice: string
  /** The label of the button. Absent: a resume does not help. */
  readonly label?: string
}

/** By the reason of the stop. What is not listed is a budget or a rule, whose reason says all. */
const kinds: Readonly<Record<string, Kind>> = {
  'code-changed': {
    about: 'the code changed',
    advice:
      'The code that runs now does not fit what is recorded. Deploy the former code again, or accept: the changed step runs once, then the task goes on.',
    label: 'Accept and resume',
  },
  'crash-loop': {
    about: 'crash loop',
    advice:
      'Their process died again and again without a new record. Give the process what it lacks, such as memory, then resume.',
    label: 'Resume',
  },
  'blocked-process': {
    about: 'blocked their process',
    advice: 'Their code held the event loop for too long. Mend the code, then resume.',
    label: 'Resume',
  },
  'agent-unknown': {
    about: 'their agent is gone',
    advice: 'No process serves this agent. Start one that does, then resume.',
    label: 'Resume',
  },
  'journal-limit': {
    about: 'too many records',
    advice:
      'The agent should begin a new journal with task.continueAs. A resume allows as many again.',
    label: 'Resume',
  },
  unreadable: {
    about: 'the log cannot be read',
    advice:
      'It was damaged, or written by a newer version. Start a process of that version, or export the log. All other tasks go on.',
  },
}

interface Group {
  readonly id: string
  readonly kind: Kind
  readonly tasks: readonly TaskSummary[]
}

function groupsOf(tasks: readonly TaskSummary[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const task of tasks) {
    const reason = task.stop?.reason ?? ''
    const kind = kinds[reason] ?? {
      about: reason,
      advice: 'Refill the budget or resume.',
      label: 'Resume',
    }
    const id = `${task.agent} ${reason}`
    groups.set(id, { id, kind, tasks: [...(groups.get(id)?.tasks ?? []), task] })
  }
  return [...groups.values()].sort((a, b) => b.tasks.length - a.tasks.length)
}

/** How many tasks are stuck, and in how many ways. */
export function countStuck(): readonly [tasks: number, kinds: number] {
  const tasks = stuckTasks.value.value ?? []
  return [tasks.length, new Set(tasks.map(({ stop }) => stop?.reason)).size]
}

export function Stuck() {
  const tasks = stuckTasks.value.value
  if (tasks === undefined) return null
  return (
    <section class="panel" aria-label="Stuck">
      <header>
        <h2>Stuck</h2>
        {tasks.length > 0 && <span class="count fail">{tasks.length}</span>}
        <span class="push">stopped by policy; nothing is lost</span>
      </header>
      {tasks.length === 0 && (
        <div class="empty">
          <AllDone />
          <p class="quiet">Nothing is stuck.</p>
        </div>
      )}
      <ul class="todo">
        {groupsOf(tasks).map((group) => (
          <StuckGroup key={group.id} group={group} />
        ))}
      </ul>
    </section>
  )
}

function StuckGroup({ group: { kind, tasks } }: { readonly group: Group }) {
  const [first] = tasks
  if (first === undefined) return null
  const { about, advice, label } = kind
  const count = tasks.length === 1 ? '1 task' : `${tasks.length} tasks`
  const isUnreadable = label === undefined
  return (
    <li>
      {isUnreadable ? (
        <Shape shape="unreadable" tone="fail" />
      ) : (
        <Shape shape="paused" tone="stop" />
      )}
      <div>
        <h3>
          {count} of {first.agent}: {about}
        </h3>
        {first.stop?.summary !== undefined && <p class="quiet">{first.stop.summary}</p>}
        <p class="quiet">{advice}</p>
      </div>
      <div class="acts">
        <Link
          class="small"
          to={
            tasks.length === 1
              ? { page: 'task', taskId: first.taskId }
              : { page: 'tasks', query: { show: 'paused-by-client', agent: first.agent } }
          }
        >
          {tasks.length === 1 ? 'Show it' : `Show ${tasks.length}`}
        </Link>
        {label !== undefined && (
          <Act
            label={label}
            effect={`Resume ${count}`}
            refused={actsOn(first).resume?.refused}
            about={advice}
            act={() => resumeAll(tasks)}
          />
        )}
      </div>
    </li>
  )
}

/** One that refuses stops no other. @throws the first refusal, when all were tried */
async function resumeAll(tasks: readonly TaskSummary[]): Promise<void> {
  const done = await Promise.allSettled(
    tasks.map((task) => ops().resume(task.taskId, { handle: task.stop?.handle })),
  )
  await stuckTasks.refresh()
  const refused = done.find((one) => one.status === 'rejected')
  if (refused !== undefined) throw refused.reason
}
