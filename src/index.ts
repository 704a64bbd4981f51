/** Lull: a runtime for agent tasks that can stop without losing their place. */
export type { CloudEvent } from './core/cloud-event.ts'
export type { EventFilter, OnTimeout, ResumeConditions, Timeout, Trigger } from './core/conditions.ts'
export { type ErrorCode, type ErrorDetails, isLullError, LullError } from './core/errors.ts'
export type { Json, JsonObject } from './core/json.ts'
export { type Artifact, type Message, type Part, type Role, textOf } from './core/message.ts'
export { agent } from './engine/agent.ts'
export { createEngine } from './engine/engine.ts'
