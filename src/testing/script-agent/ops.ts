/** The types of the ops of a script. `parse-script.ts` validates them, `perform.ts` executes them. */

import type { UsageReport } from '../../core/records.ts'
import type { Json } from '../../core/values/json.ts'
import type { ParkRequest } from '../../engine/input/requests.ts'

/** The behaviour of a step or tool. */
export interface WorkOptions {
  /** The duration in milliseconds. */
  readonly ms?: number | undefined
  /** Set to ignore the abort signal. */
  readonly stubborn?: boolean | undefined
  /** The message of the error with which it fails when the time is over. */
  readonly throw?: string | undefined
  /** Text that is written to a stream, named like the step, while the time passes. */
  readonly stream?: string | undefined
  /** The number of pieces of `stream`. */
  readonly chunks?: number | undefined
}

export interface ArtifactOp {
  readonly name: string
  readonly text?: string | undefined
  readonly data?: Json | undefined
  readonly base64?: string | undefined
  readonly url?: string | undefined
  readonly mediaType?: string | undefined
  /** The number of pieces, for text and base64. */
  readonly chunks?: number | undefined
}

export type Echoed = 'input' | 'wake' | 'reminders' | 'transcript' | 'messages'
export type ChildCall = 'pause' | 'resume' | 'cancel' | 'remind' | 'wait'

export interface Ops {
  readonly reply: { readonly reply: string }
  readonly say: { readonly say: string }
  readonly step: { readonly step: string } & WorkOptions
  readonly parallel: { readonly parallel: readonly (readonly ScriptOp[])[] }
  readonly compact: { readonly compact: true }
  readonly turn: { readonly turn: readonly ScriptOp[] }
  readonly tool: { readonly tool: string } & WorkOptions
  readonly tools: { readonly tools: readonly ({ readonly name: string } & WorkOptions)[] }
  readonly artifact: { readonly artifact: ArtifactOp }
  readonly park: { readonly park: ParkRequest }
  readonly ask: { readonly ask: string }
  readonly auth: { readonly auth: string }
  readonly consent: { readonly consent: { readonly prompt: string; readonly operation: Json } }
  readonly echo: { readonly echo: Echoed }
  readonly usage: { readonly usage: UsageReport }
  readonly delegate: {
    readonly delegate: { readonly script: readonly ScriptOp[] }
    readonly wait?: boolean | undefined
  }
  readonly child: { readonly child: ChildCall; readonly body?: string | undefined }
  readonly repeat: { readonly repeat: number; readonly ops: readonly ScriptOp[] }
  readonly fail: { readonly fail: string }
  readonly reject: { readonly reject: string }
  readonly complete: { readonly complete: string }
}

export type OpName = keyof Ops
export type ScriptOp = Ops[OpName]
