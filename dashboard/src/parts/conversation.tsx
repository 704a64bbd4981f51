/** What was said, and what the task made. Everything that agents wrote is shown as text. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Task } from '../../../src/client/tasks/task-types.ts'
import type { Artifact, Message, Part } from '../../../src/core/messages/message.ts'
import { withoutQuestionPart } from '../../../src/core/messages/question-part.ts'
import { clientFor } from '../server.ts'
import type { Known } from '../tasks.ts'

const shown = signal<Task | undefined>(undefined)

/** Only these are shown as pictures: a browser draws them and runs nothing. */
const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

export function Conversation({ task }: { readonly task: Known }) {
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
  if (shown.value?.id !== taskId) return null
  const { history, artifacts } = shown.value
  return (
    <section aria-label="Conversation">
      <h2>Conversation</h2>
      <ol class="messages">
        {history.map((message) => (
          <Said key={message.messageId} message={message} />
        ))}
      </ol>
      {artifacts.length > 0 && <h2>Artifacts</h2>}
      {artifacts.map((artifact) => (
        <Made key={artifact.artifactId} artifact={artifact} />
      ))}
    </section>
  )
}

function Said({ message }: { readonly message: Message }) {
  const user = message.role === 'ROLE_USER'
  return (
    <li class={user ? 'user' : 'agent'}>
      <span class="who">{user ? 'user' : 'agent'}</span>
      {withoutQuestionPart(message.parts).map((part, index) => (
        <PartView key={index} part={part} />
      ))}
    </li>
  )
}

function Made({ artifact }: { readonly artifact: Artifact }) {
  return (
    <figure>
      <figcaption>
        {artifact.name ?? artifact.artifactId}
        {artifact.description !== undefined && `: ${artifact.description}`}
      </figcaption>
      {artifact.parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
    </figure>
  )
}

function PartView({ part }: { readonly part: Part }) {
  if ('text' in part) return <div class="text">{part.text}</div>
  if ('data' in part) return <pre>{JSON.stringify(part.data, null, 2)}</pre>
  if ('url' in part) return <code>{part.url}</code>
  const type = part.mediaType ?? ''
  if (!pictures.includes(type)) return <span class="empty">{type || 'a file'}</span>
  return <img src={`data:${type};base64,${part.raw}`} alt={part.filename ?? 'made by the agent'} />
}
