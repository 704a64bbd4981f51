/** What a caller can do about a refusal, by reason. It has the reasons of Lull and A2A. Other peers may have more. */

const byReason: Readonly<Record<string, string>> = {
  UNREACHABLE: 'Check the address and that the server runs; it may be starting again.',
  NOT_A2A: 'Check the address: give the base URL of an agent, or the URL of its card.',
  NOT_SUPPORTED: 'Look at capabilities() first, and choose a fallback where the call has one.',
  NOT_WAITING:
    'Read the task: only one that waits for input, authorisation or consent is answered.',
  ORIGIN_NOT_ALLOWED: 'If the card may lead there, name the origin in `origins`.',
  UNAUTHENTICATED: 'Send credentials with the `headers` option; the card says which.',
  FORBIDDEN: 'Call with credentials that have the scope named in the details.',
  TASK_NOT_FOUND: 'Check the id, and that you call as the one who started the task.',
  TASK_NOT_CANCELABLE: 'Nothing: the task has ended.',
  TASK_TERMINAL: 'Refer to the task in a new message (referenceTaskIds) to build on it.',
  TASK_NOT_PAUSABLE: 'Look at details.state: a task that waits or is parked stands still already.',
  TASK_NOT_PAUSED: 'Nothing to do if another caller was first: details.cause says who.',
  RESUME_HANDLE_MISMATCH: 'Read the task and take the handle it shows now.',
  TASK_HELD: 'Wait until the operator lifts the hold.',
  BUDGET_EXCEEDED: 'Ask an operator to refill or raise the budget, or cancel the task.',
  TASK_UNREADABLE: 'Ask the operator: the log of the task is damaged or of a newer version.',
  REMINDER_LIMIT: 'Clear reminders, or give them a dedupeKey or ttlTurns.',
  IDEMPOTENCY_KEY_REUSED: 'Use a new key for a new message.',
  INVALID_PARAMS: 'Correct the field named by `path`.',
  INVALID_INPUT: 'Correct the field named by `path`.',
  METHOD_NOT_FOUND: 'Look at capabilities() for what the agent offers.',
  NOT_OFFERED: 'Look at capabilities() for what the agent offers.',
  UNSUPPORTED_OPERATION: 'Read the task: its state or the agent does not allow this.',
  CONTENT_TYPE_NOT_SUPPORTED: 'Send parts of the media types that the card lists.',
  VERSION_NOT_SUPPORTED: 'Connect by the card, which says what versions are spoken.',
  LIMIT_EXCEEDED: 'Try again later, and less often.',
  UNAVAILABLE: 'Try again shortly.',
}

export function adviceFor(reason: string): string {
  const found = Object.hasOwn(byReason, reason) ? byReason[reason] : undefined
  return found ?? 'Read what the peer says in the message.'
}
