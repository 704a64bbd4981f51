/**
 * A context that begins with a task is named after it, so that nobody has to look what came before: nothing did. The
 * task's UUIDv7 becomes a UUIDv8 with the same bits (RFC 9562 §5.8), because peers keep ids in 36 characters.
 */
export function contextBegunBy(taskId: string): string {
  return taskId.charAt(14) === '7'
    ? `${taskId.slice(0, 14)}8${taskId.slice(15)}`
    : `context-${taskId}`
}
