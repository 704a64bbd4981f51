/**
 * The vocabulary of the manifest. A case is data: what to ask, in the neutral words of A2A 1.0, and what must be true of
 * the answer. A dialect turns the neutral words into one version's bytes on one binding, and the bytes back.
 *
 *   Case ── steps ──▶ Dialect ── bytes ──▶ endpoint
 *     ▲                                      │
 *     └── checks ◀── Outcome ◀── Dialect ◀───┘
 */
export type Level = 'MUST' | 'SHOULD' | 'MAY'
export type Version = '1.0' | '0.3'
/**
 * How stopped states stand on the wire. `words`: the RFC's own, as in `paused-by-client`; `core`: the enum of a proto is
 * closed and official clients fail on a name they do not know, so the state is a core one and the truth is in the metadata.
 */
export type Stopped = 'words' | 'core'
/** 'card' is the well-known document: no binding, asked once per version. */
export type Binding = 'jsonrpc' | 'rest' | 'card' | 'grpc'
/** Both speak "1.0" on the wire; they differ in the error table and the media type of REST. */
export type Profile = '1.0.0' | '1.0.1'
export type Lane = `${Version}/${Binding}`

export type Operation =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'pushCreate'
  | 'pushGet'
  | 'pushList'
  | 'pushDelete'
  | 'extendedCard'
  | 'pause'
  | 'resume'
  | 'awaitResumption'
  | 'injectReminder'
  | 'listReminders'
  | 'clearReminders'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [k: string]: Json }
export type Args = { readonly [k: string]: Json }

/** What came back, in neutral words, with the bytes it came from. */
export interface Outcome {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body as it stood on the wire. */
  readonly body: unknown
  /** The neutral arguments that were sent, with captures filled in. */
  readonly request: unknown
  readonly task?: unknown
  readonly message?: unknown
  readonly result?: unknown
  readonly error?: WireError
  readonly frames?: readonly Frame[]
  /** A stream that ended by itself, not by our deadline. */
  readonly closed?: boolean
}

export interface WireError {
  readonly code: number | undefined
  readonly message: string | undefined
  readonly reason: string | undefined
  readonly domain: string | undefined
  readonly data: unknown
}

/** One server-sent event: `data` as it stood on the wire, `event` in neutral words. */
export interface Frame {
  readonly id: string | undefined
  readonly data: unknown
  readonly event: unknown
}

export interface CheckContext {
  readonly version: Version
  readonly binding: Binding
  readonly profile: Profile
  /** Of tasks that were made on this lane. */
  readonly stopped: Stopped
  readonly vars: Readonly<Record<string, unknown>>
  readonly card: unknown
  readonly base: string
}

/** `test` answers with nothing when it holds, else with a sentence. */
export interface Check {
  readonly says: string
  readonly test: (outcome: Outcome, context: CheckContext) => string | undefined
}

interface Judged {
  /** If these do not hold although the request was accepted, the agent does not do this: skipped, not failed. */
  readonly assume?: readonly Check[]
  readonly expect?: readonly Check[]
  readonly as?: string
}

interface Routed {
  /** Another binding or version than the lane's, for cases that compare. */
  readonly via?: 'jsonrpc' | 'rest'
  readonly version?: Version
  readonly headers?: Readonly<Record<string, string>>
}

export interface CallStep extends Judged, Routed {
  readonly do: Operation
  readonly with?: Args
  /** Ask again until this holds: for facts that no stream announces. */
  readonly until?: Check
}
export interface OpenStep extends Routed {
  readonly open: 'stream' | 'subscribe'
  readonly with: Args
  readonly as: string
}
export interface ReadStep extends Judged {
  readonly read: string
  /** 'closed': to the end. A check: until a frame makes it hold. */
  readonly until: 'closed' | Check
}
export interface CloseStep {
  readonly close: string
}
/** Bytes of our own: for malformed input and for documents outside the operations. */
export interface HttpStep extends Judged {
  readonly http: {
    readonly method: string
    /** Relative to the lane's endpoint; with `origin`, to the server's root. */
    readonly path?: string
    readonly origin?: true
    readonly headers?: Readonly<Record<string, string>>
    /** A string is sent as it is, anything else as JSON. */
    readonly body?: Json
  }
}
export interface ReceiverStep {
  /** Opens a webhook; `$name.url` is its address. */
  readonly receiver: string
}
export interface DeliveredStep extends Judged {
  readonly delivered: string
  readonly until?: Check
}
/** A question that is not HTTP (TLS, a signature): answers with nothing when it holds. */
export interface ProbeStep {
  readonly probe: string
  readonly ask: (context: CheckContext) => Promise<string | undefined>
}
export type Step =
  | CallStep
  | OpenStep
  | ReadStep
  | CloseStep
  | HttpStep
  | ReceiverStep
  | DeliveredStep
  | ProbeStep

export type Need =
  | 'streaming'
  | 'no-streaming'
  | 'push'
  | 'no-push'
  | 'extended-card'
  | 'no-extended-card'
  | 'required-extension'
  | 'both-bindings'
  | 'both-versions'
  | 'signatures'
  | 'security'
  | 'https'
  | 'task-control'
  | 'reminders'
  | 'user-consent'

export interface Case {
  readonly id: string
  /** Tells apart the cases of one requirement. */
  readonly variant?: string
  readonly level: Level
  /** Section of the specification of that version; ours: of docs/conformance.md. */
  readonly section: string
  readonly title: string
  /** Ids in the official kits' lists that this case answers; the case's own id when absent. */
  readonly covers?: readonly string[]
  readonly versions: readonly Version[]
  readonly bindings: readonly Binding[]
  readonly profiles?: readonly Profile[]
  readonly needs?: readonly Need[]
  readonly steps: readonly Step[]
  /** Stands in the manifest, is not run: the reason. */
  readonly excluded?: string
}

export type Status = 'pass' | 'fail' | 'skip'
export interface Result {
  readonly key: string
  readonly case: Case
  readonly lane: Lane
  readonly status: Status
  readonly reason: string
  readonly ms: number
}
