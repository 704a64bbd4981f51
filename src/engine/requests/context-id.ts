/**
 * The id of a context that begins with this task. Because it is derived from the task id, the engine knows without a
 * query that the context has no earlier tasks. The task's UUIDv7 becomes a UUIDv8 with the same bits (RFC 9562 §5.8),
 * because peers keep ids in 36 characters.
 */
export function contextBegunBy(taskId: string): string {
  return taskId.charAt(14) === '7'
    ? `${taskId.slice(0, 14)}8${taskId.slice(15)}`
    : `context-${taskId}`
}
