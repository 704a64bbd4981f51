/** What was said. Everything that agents and users wrote is shown as text, agents' markdown as elements. */
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Task } from '../../../src/client/tasks/task-types.ts'
import type { Message, Part } from '../../../src/core/messages/message.ts'
import { withoutQuestionPart } from '../../../src/core/messages/question-part.ts'
import { isInterrupted, isTerminal } from '../../../src/core/states.ts'
import { isState } from '../looks.ts'
import { Markdown } from '../markdown.tsx'
import { clientFor, messageOf, who } from '../server.ts'
import { type Known, lostSince } from '../tasks.ts'
import { textIn } from './act.tsx'
import { Problem, TextField } from './field.tsx'
import { FoldedData } from './folded-data.tsx'

const shown = signal<Task | undefined>(undefined)

/** Messages and artifacts of the task, read again when it changes. Undefined: not read yet. */
export function useWholeTask(task: Known): Task | undefined {
  const { taskId, version } = task
  useEffect(() => {
    clientFor(task)
      .get(taskId)
      .then(
        (found) => {
          shown.value = found
        },
        () => undefined,
      )
  }, [taskId, version])
  return shown.value?.id === taskId ? shown.value : undefined
}

export function Conversation({ task, whole }: { readonly task: Known; readonly whole: Task }) {
  return (
    <section class="panel" aria-label="Conversation">
      <header>
        <h2>Conversation</h2>
      </header>
      <div class="pad">
        <ul class="talk messages">
          {whole.history.map((message) => (
            <Said key={message.messageId} message={message} task={task} />
          ))}
        </ul>
        <Write task={task} />
      </div>
    </section>
  )
}

/** A message that answers nothing: only the principal that started the task may send one. */
function Write({ task }: { readonly task: Known }) {
  const problem = useSignal<string | undefined>(undefined)
  const isOpen = isState(task.state) && !isTerminal(task.state) && !isInterrupted(task.state)
  const isOwn = who.value === undefined || who.value.principal === task.principal
  if (!isOpen || !isOwn) return null
  async function send(form: HTMLFormElement): Promise<void> {
    problem.value = undefined
    try {
      const text = textIn(new FormData(form), 'message') ?? ''
      await clientFor(task).send(text, { taskId: task.taskId, returnImmediately: true })
      form.reset()
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        send(event.currentTarget).catch(() => undefined)
      }}
    >
      <TextField
        label="Write to it"
        name="message"
        rows={2}
        required
        hint="It reads this at its next turn."
      />
      {problem.value !== undefined && <Problem text={problem.value} />}
      <div class="acts">
        <button type="submit" disabled={lostSince.value !== undefined}>
          Send
        </button>
      </div>
    </form>
  )
}

function Said({ message, task }: { readonly message: Message; readonly task: Known }) {
  const isUser = message.role === 'ROLE_USER'
  const parts = withoutQuestionPart(message.parts)
  const name = isUser ? task.principal : task.agent
  return (
    <li class={isUser ? 'mine' : undefined}>
      <span class="by">
        <span class="who">
          <span class={isUser ? 'face' : 'face bot'} aria-hidden="true">
            {name.slice(0, 2).toUpperCase()}
          </span>
          {name}
        </span>
      </span>
      {parts.map((part, index) => (
        <PartView key={index} part={part} isUser={isUser} />
      ))}
    </li>
  )
}

function PartView({ part, isUser }: { readonly part: Part; readonly isUser: boolean }) {
  if ('text' in part) {
    return (
      <div class="say">
        {isUser ? <div class="text">{part.text}</div> : <Markdown text={part.text} />}
      </div>
    )
  }
  if ('data' in part) return <FoldedData data={part.data} />
  if ('url' in part) return <code>{part.url}</code>
  return <span class="quiet">{part.filename ?? part.mediaType ?? 'a file'}</span>
}
