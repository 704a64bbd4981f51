/** What `/ops` answers about agents. */

/** An agent of the server. */
export interface AgentSummary {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the message that starts a task. Absent: any message does. */
  readonly input?: unknown
}
