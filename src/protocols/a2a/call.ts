/** One call, independent of its binding, and the type of a method that answers it. */
import type { Scope } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FrameSource, Heartbeat } from '../../http/event-stream.ts'
import type { HttpRequest } from '../../http/http.ts'
import type { Params } from './addresses/params.ts'
import type { ServedAgent } from './cards/served-agent.ts'
import type { Codec } from './codec/codec.ts'
import type { FaultOverrides } from './errors/failure.ts'
import type { Pushes } from './push/pushes.ts'
import type { Closing } from './streams/closing.ts'
import type { FanOut } from './streams/fan-out.ts'
import type { TaskTexts } from './streams/task-texts.ts'

export type { Scope }

/** The dependencies of every method. */
export interface A2AContext {
  readonly engine: Engine
  readonly clock: EngineDeps['clock']
  readonly ids: EngineDeps['ids']
  readonly log: EngineDeps['log']
  readonly heartbeat: Heartbeat
  /** Absent: this server sends no push notifications. */
  readonly pushes: Pushes | undefined
  readonly closing: Closing
  /** The states in which the Bindu dialect accepts a pause, in its own names. */
  readonly binduPausable: readonly string[]
  /** Whether operations in the metadata of a send (`metadata.harn`) are executed. */
  readonly harnTunnel: boolean
  readonly fanOut: FanOut
  readonly texts: TaskTexts
}

export interface Call {
  readonly codec: Codec
  readonly caller: Caller
  readonly may: (scope: Scope) => boolean
  readonly agent: ServedAgent
  readonly params: Params
  /** The extensions that the request activated. */
  readonly active: ReadonlySet<string>
  /**
   * The HTTP request, for methods that need a header, or need to know when the client disconnects.
   */
  readonly request: Pick<HttpRequest, 'header' | 'onGone'>
  /** Wraps a result in the envelope of the binding. */
  readonly envelope: (result: string) => string
}

export type Answer =
  | { readonly value: unknown; readonly frames?: undefined }
  /** A result that is already serialised as JSON. */
  | { readonly text: string; readonly frames?: undefined }
  /** A stream. If it is a string, it contains all frames. */
  | { readonly frames: FrameSource | string }

export interface Method {
  readonly scope: Scope
  /**
   * Parses the parameters, makes one engine call, and renders the result. It makes no decisions.
   */
  readonly run: (a2a: A2AContext, call: Call) => Promise<Answer>
  /** The faults that differ from `faultOf` for this method. */
  readonly faults?: FaultOverrides
  /** The extension that the method belongs to. Calling the method activates it. */
  readonly extension?: string
  /** Whether the method answers with a stream. */
  readonly streams?: boolean
}
