/** What `/ops` answers about webhooks. */

/** A webhook of a task. Times are ISO 8601. */
export interface WebhookSummary {
  readonly webhookId: string
  /** The origin of its address. The rest of the address is a secret of the receiver. */
  readonly to: string
  /** `failed`: the delivery was given up. */
  readonly status: 'open' | 'failed' | 'done'
  /** Everything up to this record of the log has been delivered. */
  readonly deliveredSeq: number
  /** Failed attempts of the current delivery. */
  readonly attempts: number
  readonly retryAt?: string | undefined
  readonly failedAt?: string | undefined
  /** Why the last attempt failed. */
  readonly error?: string | undefined
}
