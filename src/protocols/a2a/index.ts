/**
 * `lull/a2a`: A2A without the server of Lull. It has a fetch handler for an engine, a request handler for the
 * transports of the official SDK, and the checkpoint of a stopped task in the shape of the Bindu document.
 */
export type {
  FrameBatch,
  FrameSource,
  Heartbeat,
  HeartbeatListener,
} from '../../http/event-stream.ts'
export type { HttpAnswer, HttpHeaders, HttpRequest } from '../../http/http.ts'
export { type A2A, type A2AOptions, createA2A } from './a2a.ts'
export type { CallMethod, MethodAnswer, MethodCall, MethodError } from './bindings/by-name.ts'
export type { Scope } from './call.ts'
export { type A2AEnv, type A2AFetchEnv, ownTaskScopes } from './call.ts'
export type { CardOptions, SecurityOptions } from './cards/card-options.ts'
export type { PublicJwk } from './cards/signing-key.ts'
export type { StateSpelling } from './codec/codec.ts'
export type { A2AConfig } from './config.ts'
export { type Checkpoint, checkpointOf } from './dialects/bindu/bindu-task.ts'
export {
  type OfficialHandler,
  type OfficialOptions,
  type OfficialSdk,
  type OfficialType,
  type OfficialValue,
  toA2ARequestHandler,
} from './dialects/official-handler.ts'
export type { PushStore } from './push/delivery-deps.ts'
export type { Delivery, Post } from './push/post.ts'
