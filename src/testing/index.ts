/**
 * For tests of agents, clients and stores. `describeStoreContract` is an entry of its own, because it needs vitest, which
 * its user brings.
 */
export { createCountingIds } from './counting-ids.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export type { Effects } from './script-agent/effects.ts'
export type { ScriptOp } from './script-agent/ops.ts'
export {
  createScriptAgent,
  type ScriptAgentOptions,
  scriptAgent,
} from './script-agent/script-agent.ts'
export { testSigner } from './test-signer.ts'
