/** The `task` object that agent code gets, and the kinds of operations of a run that it is made of. */

import { textOf } from '../../../core/messages/message.ts'
import { renderReminders } from '../../../core/reminders/render-reminders.ts'
import type { Task } from '../../../core/task.ts'
import type { Agent } from '../../author/agent.ts'
import type { AgentTask, Answer } from '../../author/agent-task.ts'
import type { Conversation, ConversationArtifact, Past } from '../../author/conversation.ts'
import { agentCall } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import { type Children, createChildren } from './children.ts'
import type { AbortCode } from './execution.ts'
import { artifactReferences, createOutputs, type Outputs, pickArtifact } from './outputs.ts'
import { createSteps, type Steps } from './steps.ts'
import { createStops, type Stops } from './stops.ts'
import { createTurns, type Turns } from './turns.ts'

/** Methods are own, bound properties, so that agent code may destructure, spread, wrap or replace them. */
export class TaskApi implements AgentTask {
  readonly #operations: Operations
  readonly #past: Past
  /** Ends this run and begins the next one from `state`. */
  readonly #continueAs: AgentTask['continueAs']
  readonly message: AgentTask['message']
  readonly id: string
  readonly contextId: string
  readonly metadata: AgentTask['metadata']
  readonly input: AgentTask['input']
  readonly principal: string
  readonly tenant: string
  readonly context: Conversation
  readonly state: AgentTask['state']

  constructor(operations: Operations, past: Past, continueAs: AgentTask['continueAs']) {
    const { task } = operations.core
    this.#operations = operations
    this.#past = past
    this.#continueAs = continueAs
    this.message = task.history[0] as AgentTask['message']
    this.id = task.id
    this.contextId = task.contextId
    this.metadata = task.metadata ?? {}
    this.input = task.input
    this.principal = task.principal
    this.tenant = task.tenant
    this.context = past.context
    this.state = task.journal.state
  }

  get text(): string {
    return textOf(this.message)
  }
  get messages(): AgentTask['messages'] {
    return this.#operations.turns.heard()
  }
  get signal(): AbortSignal {
    return this.#operations.core.signal
  }
  get wake(): AgentTask['wake'] {
    return this.#operations.core.journal.wakes.look()
  }
  get reminders(): AgentTask['reminders'] {
    return this.#operations.turns.reminders()
  }
  get reminderBlock(): AgentTask['reminderBlock'] {
    return renderReminders(this.reminders)
  }
  get referenced(): AgentTask['referenced'] {
    const { referenced: tasks, context } = this.#past
    return { tasks, artifacts: referencedArtifacts(this.message, tasks, context) }
  }

  readonly step: AgentTask['step'] = (name, code, options) =>
    agentCall(() => this.#operations.steps.run('step', name, code, options))
  readonly turn: AgentTask['turn'] = (code) => agentCall(() => this.#operations.turns.run(code))
  readonly park: AgentTask['park'] = (park) => agentCall(() => this.#operations.stops.park(park))
  readonly sleep: AgentTask['sleep'] = (ms) => agentCall(() => this.#operations.stops.sleep(ms))
  readonly ask: AgentTask['ask'] = ((question, options) =>
    agentCall(() =>
      this.#heard(this.#operations.stops.ask('input-required', question, options)),
    )) as AgentTask['ask']
  readonly requireAuth: AgentTask['requireAuth'] = (question, options) =>
    agentCall(() => this.#heard(this.#operations.stops.ask('auth-required', question, options)))
  readonly requireConsent: AgentTask['requireConsent'] = (request) =>
    agentCall(() => this.#heard(this.#operations.stops.consent(request)))
  readonly pickArtifact: AgentTask['pickArtifact'] = (name) =>
    agentCall(() => pickArtifact(this, name))

  readonly say: AgentTask['say'] = (content) =>
    agentCall(() => this.#operations.outputs.say(content))
  readonly progress: AgentTask['progress'] = (fraction, text) =>
    agentCall(() => this.#operations.outputs.progress(fraction, text))
  readonly artifact: AgentTask['artifact'] = (artifact, options) =>
    agentCall(() => this.#operations.outputs.artifact(artifact, options))
  readonly artifactStream: AgentTask['artifactStream'] = (name, about) =>
    this.#operations.outputs.stream(name, about)
  readonly delegate: AgentTask['delegate'] = (agent, content) =>
    agentCall(() => this.#operations.children.delegate(agent, content))
  readonly usage: AgentTask['usage'] = (usage) =>
    agentCall(() => this.#operations.outputs.usage(usage))
  readonly compact: AgentTask['compact'] = () => agentCall(() => this.#operations.turns.compact())
  readonly continueAs: AgentTask['continueAs'] = (state) => agentCall(() => this.#continueAs(state))

  readonly now: AgentTask['now'] = () => {
    const { core } = this.#operations
    return core.value('now', core.host.clock.now)
  }
  readonly uuid: AgentTask['uuid'] = () => {
    const { core } = this.#operations
    return core.value('uuid', core.host.ids.uuid)
  }
  readonly random: AgentTask['random'] = () => {
    const { core } = this.#operations
    return core.value('random', core.host.ids.random)
  }
  readonly log: AgentTask['log'] = (level, text, facts) => {
    const { host, task } = this.#operations.core
    const { id: taskId, agent } = task
    host.log(level, text, { ...facts, taskId, agent })
  }

  async #heard<T extends Answer>(asking: Promise<T>): Promise<T> {
    const answer = await asking
    this.#operations.turns.hear(answer.message)
    return answer
  }
}

/** The artifacts that the metadata of the message's parts refers to. */
function referencedArtifacts(
  message: AgentTask['message'],
  tasks: readonly Task[],
  conversation: Conversation,
): readonly ConversationArtifact[] {
  const named = message.parts.flatMap((part) => artifactReferences(part))
  const known = [
    ...conversation.artifacts,
    ...tasks.flatMap((task) => task.artifacts.map((artifact) => ({ taskId: task.id, artifact }))),
  ]
  return named.flatMap(({ artifactId, taskId }) => {
    const found = known.find(
      (one) =>
        one.artifact.artifactId === artifactId && (taskId === undefined || one.taskId === taskId),
    )
    return found === undefined ? [] : [found]
  })
}

const none: readonly string[] = []

/**
 * The kinds of operations of a run. Each is made when the agent first calls one: most agents use few of them.
 *
 * A class for its getters: in a literal each of them would cost a hidden class per run, which outlives the run.
 */
export class Operations {
  #steps: Steps | undefined
  #outputs: Outputs | undefined
  #stops: Stops | undefined
  #turns: Turns | undefined
  #children: Children | undefined

  readonly #agent: Agent
  readonly core: RunCore

  constructor(core: RunCore, agent: Agent) {
    this.core = core
    this.#agent = agent
  }

  get steps(): Steps {
    this.#steps ??= createSteps(this.core)
    return this.#steps
  }

  get outputs(): Outputs {
    this.#outputs ??= createOutputs(this.core)
    return this.#outputs
  }

  get stops(): Stops {
    this.#stops ??= createStops(this.core)
    return this.#stops
  }

  get turns(): Turns {
    this.#turns ??= createTurns(this.core, this.#agent, this.steps, this.outputs)
    return this.#turns
  }

  get children(): Children {
    this.#children ??= createChildren(this.core)
    return this.#children
  }

  /** Offers the running steps to stop. */
  interrupt(code: 'paused' | 'stopping'): void {
    this.#steps?.interrupt(code)
  }

  abort(code: AbortCode): void {
    this.#steps?.abort(code)
  }

  /** How long the run may wait for its open operations when its code has ended. */
  abandonAfterMs(): number {
    return this.#steps?.abandonAfterMs() ?? this.core.host.limits.abandonAfterMs
  }

  /** The run ends: it waits for no function of a step any longer. Undefined where none is in flight. */
  abandonAll(): Promise<void> | undefined {
    return this.#steps?.abandonAfterMs() === undefined ? undefined : this.#steps.abandonAll()
  }

  /** Resolves when every child that was delegated to exists; undefined where there is none. */
  childrenExist(): Promise<void> | undefined {
    return this.#children?.created()
  }

  /** How many steps wait for a child. */
  waitingSteps(): number {
    return this.#steps?.waiting() ?? 0
  }

  watching(): boolean {
    return this.#children?.watching() ?? false
  }

  awaited(): readonly string[] {
    return this.#children?.awaited() ?? none
  }
}
