/** Creates the parts that handle budgets and rules, and wires them together. */
import type { Peers } from '../cluster/peers.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds/holds.ts'
import { type Budgets, createBudgets } from './budgets.ts'
import { type BudgetChecks, createBudgetChecks } from './check-budgets.ts'
import { createFireRules, type FireRules } from './fire-rules.ts'
import type { Policies } from './policies.ts'
import { createRules, type Rules } from './rules.ts'

export interface Policing {
  readonly budgets: Budgets
  readonly rules: Rules
  readonly checks: BudgetChecks
  readonly fire: FireRules
}

interface PolicingParts {
  readonly context: EngineContext
  readonly holds: Pick<Holds, 'holdByRule'>
  /** Present in a shared store. */
  readonly peers: Pick<Peers, 'barrier'> | undefined
}

/** @param parts read only after the engine is assembled */
export function createPolicing(parts: PolicingParts, policies: Policies): Policing {
  const { context } = parts
  /** Resolves when every process has read the policies that are stored now. */
  const changed = async (): Promise<void> => {
    await policies.refresh()
    await parts.peers?.barrier.passed()
  }
  const fire = createFireRules(parts, policies)
  const checks = createBudgetChecks(context, policies, fire.onFigures)
  return {
    budgets: createBudgets(context, checks, changed),
    rules: createRules(context, checks, changed),
    checks,
    fire,
  }
}
