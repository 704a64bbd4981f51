/** The kinds of operations of a run. Each is made when the agent first calls one: most agents use few of them. */
import type { Agent } from '../author/agent.ts'
import type { AbortCode } from './abort-reason.ts'
import { type Children, createChildren } from './children/children.ts'
import { createOutputs, type Outputs } from './outputs/outputs.ts'
import type { RunCore } from './run-core.ts'
import { createSteps, type Steps } from './steps/steps.ts'
import { createStops, type Stops } from './stops/stops.ts'
import { createTurns, type Turns } from './turns/turns.ts'

const none: readonly string[] = []

/** A class for its getters: in a literal each of them would cost a hidden class per run, which outlives the run. */
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
