/** The agents of the server, and a form for each that starts a task. */
import { signal } from '@preact/signals'
import { textOf } from '../../../src/core/messages/message.ts'
import type { Json } from '../../../src/core/values/json.ts'
import type { AgentSummary } from '../../../src/wire/ops/server.ts'
import { Act } from '../parts/act.tsx'
import { AnswerFields, answerIn } from '../parts/schema-form.tsx'
import { createPolled, Problem, usePolled } from '../polled.tsx'
import { go } from '../router.ts'
import { clientOfAgent, ops } from '../server.ts'

const agents = createPolled(() => ops().agents())
/** What agents answered without a task, by agent. */
const replies = signal<Readonly<Record<string, string>>>({})

export function Agents() {
  usePolled(agents)
  const all = agents.value.value
  return (
    <>
      <div class="head">
        <h1>Agents</h1>
        <span class="sub">what this server can do</span>
      </div>
      <Problem of={agents} />
      {all === undefined && <p class="quiet">Loading…</p>}
      <ul class="blocks">
        {all?.map((agent) => (
          <Agent key={agent.name} agent={agent} />
        ))}
      </ul>
    </>
  )
}

function Agent({ agent }: { readonly agent: AgentSummary }) {
  const { name, description, input } = agent
  const reply = replies.value[name]
  const asked = input === undefined ? {} : { schema: input }
  async function send(form: FormData): Promise<void> {
    const given = answerIn(form, asked)
    const content = typeof given === 'string' ? given : [{ data: given.data as Json }]
    const sent = await clientOfAgent(name).send(content, { returnImmediately: true })
    if (sent.kind === 'task') go({ page: 'task', taskId: sent.task.id })
    else replies.value = { ...replies.value, [name]: textOf(sent.message) }
  }
  return (
    <li class="panel block">
      <header>
        <h2>{name}</h2>
      </header>
      <p class="quiet">{description}</p>
      {reply !== undefined && (
        <p class="text" role="status">
          {reply}
        </p>
      )}
      <div class="acts">
        <Act
          label={`Send to ${name}`}
          kind="primary"
          about="The message starts a task, or is answered at once."
          act={send}
        >
          <AnswerFields question={asked} label="Message" />
        </Act>
      </div>
    </li>
  )
}
