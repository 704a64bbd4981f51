/** `lull/testing`: helpers for tests of agents, clients and stores. */

export type {
  CodeChange,
  CodeReplay,
  ReplayedOperation,
} from '../engine/requests/replay/code-replay.ts'
export type {
  AgentsReplay,
  ReplayVerdict,
  TaskReplay,
} from '../engine/requests/replay/replay-agents.ts'
export { createCountingIds } from './counting-ids.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { type ReplayAgentsOptions, replayAgents } from './replay-agents.ts'
export type {
  ArtifactOp,
  ChildCall,
  Echoed,
  OpName,
  Ops,
  ScriptOp,
  WorkOptions,
} from './script-agent/ops.ts'
export {
  createScriptAgent,
  type ScriptAgentOptions,
  scriptAgent,
} from './script-agent/script-agent.ts'
export type { Effects } from './script-agent/work.ts'
export {
  type AsyncMatchers,
  type ClusterUnderTest,
  describeStoreContract,
  type Expect,
  type MakeStore,
  type Matchers,
  type StoreUnderTest,
  type TestKit,
} from './store-contract.ts'
export {
  type TestAnswer,
  type TestEngine,
  type TestEngineOptions,
  testEngine,
} from './test-engine.ts'
export { testSigner } from './test-signer.ts'
