/** The server answered, and the answer is no. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** JSON-RPC's number. */
  readonly code: number
  /** The stable word for it, such as `TASK_NOT_FOUND`; what programs should look at. */
  readonly reason: string | undefined

  constructor(code: number, message: string, reason: string | undefined) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

/** There was no answer, or not one of an A2A server. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** `cause` of a failed fetch says more than "fetch failed". */
export function unreachable(url: string, cause: unknown): UnreachableError {
  return new UnreachableError(`Cannot reach ${url}: ${reasonOf(cause)}`, { cause })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
