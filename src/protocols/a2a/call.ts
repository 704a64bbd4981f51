/** One call, whichever binding it came by, and what a method makes of it. */
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FrameSource, Heartbeat } from '../../wire/event-stream.ts'
import type { HttpRequest } from '../../wire/http.ts'
import type { ServedAgent } from './cards/served-agent.ts'
import type { Closing } from './closing.ts'
import type { Codec } from './codec/codec.ts'
import type { FaultOverrides } from './failure.ts'
import type { FanOut } from './fan-out.ts'
import type { Params } from './params.ts'
import type { Pushes } from './push/pushes.ts'
import type { TaskTexts } from './task-texts.ts'

/** What a caller needs for a method; the server decides who has it. */
export type Scope = 'tasks:read' | 'tasks:write' | 'tasks:control' | 'tasks:work'

/** What the adapter has at hand. */
export interface A2AContext {
  readonly engine: Engine
  readonly clock: EngineDeps['clock']
  readonly ids: EngineDeps['ids']
  readonly log: EngineDeps['log']
  readonly heartbeat: Heartbeat
  /** Absent: this server sends no push notifications. */
  readonly pushes: Pushes | undefined
  readonly closing: Closing
  /** States the Bindu dialect pauses, in its own words. */
  readonly binduPausable: readonly string[]
  /** Whether operations in the metadata of a send are honoured. */
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
  /** Extensions the request turned on. */
  readonly active: ReadonlySet<string>
  /** What it came with, for the few that look further than their parameters. */
  readonly request: Pick<HttpRequest, 'header' | 'onGone'>
  /** Puts a result into the frame the binding asks for. */
  readonly envelope: (result: string) => string
}

export type Answer =
  | { readonly value: unknown; readonly frames?: undefined }
  /** The same, as JSON already. */
  | { readonly text: string; readonly frames?: undefined }
  /** A stream; as text where all of it is known. */
  | { readonly frames: FrameSource | string }

export interface Method {
  readonly scope: Scope
  /** Parse, one engine call, render: no decision is taken here. */
  readonly run: (a2a: A2AContext, call: Call) => Promise<Answer>
  /** Where the method's errors differ from the common table. */
  readonly faults?: FaultOverrides
  /** A method of an extension: calling it turns that on. */
  readonly extension?: string
  /** Answers with a stream. */
  readonly streams?: boolean
}
