/** What `/ops` answers about the timeline of a task. */

/** One visible record of a task's log. */
export interface TimelineEntry {
  /** The number of the record in the log. */
  readonly seq: number
  readonly at: string
  readonly kind: TimelineKind
  /** The type of the record. */
  readonly event: string
  /** Of a step, a tool, an artifact, a child's agent. */
  readonly name?: string
  /** Of a turn. */
  readonly turn?: number
  /** Of a step: the execution that settled it. */
  readonly attempt?: number
  readonly outcome?: 'done' | 'failed' | 'interrupted' | 'skipped' | 'abandoned'
  /** What was said, asked or given as a reason; at most 400 characters. */
  readonly text?: string
  /** Of a model call. */
  readonly costUsd?: number
  readonly tokens?: number
}

export type TimelineKind =
  | 'task'
  | 'turn'
  | 'step'
  | 'tool'
  | 'output'
  | 'message'
  | 'question'
  | 'stop'
  | 'wake'
  | 'hold'
  | 'child'
  | 'reminder'
  | 'usage'

export interface TimelinePage {
  readonly entries: readonly TimelineEntry[]
  /** Where the next page begins. */
  readonly after: number
  readonly more: boolean
}
