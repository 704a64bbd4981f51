/**
 * Prints the frames of a task as they arrive: states and messages as lines, text without waiting for its line to end.
 * Nothing is printed twice: a message is printed once for its id, and of an artifact's text only the new part is written.
 */
import type { ArtifactFrame, StatusFrame, Task, TaskFrame } from '../../client/tasks/task-types.ts'
import { RESULT_NAME, withoutResult } from '../../core/messages/result-artifact.ts'
import { isPaused } from '../../core/states.ts'
import { plain } from '../../core/values/printable.ts'
import { waitText } from '../../core/waiting/wait-text.ts'
import type { Io } from '../command.ts'
import { artifactLine, messageText, reminderLine, stateText, statusText } from './render.ts'

export interface FrameView {
  frame(frame: TaskFrame): void
}

export function createFrameView(io: Io, now: () => number = Date.now): FrameView {
  let state = ''
  const messages = new Set<string>()
  /** By artifact: the text that is already printed. */
  const texts = new Map<string, string>()
  /** An artifact that may only repeat the message of the next status. */
  let held: ArtifactFrame | undefined

  function status(current: Task | StatusFrame): void {
    const { status, suspension } = current
    const stop = suspension?.pausing === true ? undefined : suspension?.handle
    const id = status.message?.messageId ?? stop
    const isNew = id !== undefined && !messages.has(id)
    if (isNew) messages.add(id)
    const word = `${current.state}${current.suspension?.pausing === true ? ', pausing' : ''}`
    if (word === state && !isNew) return
    state = word
    const text = isNew ? statusText(current) : ''
    const painted = word.replace(current.state, stateText(current.state, io.paint))
    io.print([painted, text, waitOf(current)].filter((part) => part !== '').join('  '))
  }

  function waitOf({ state: now_, suspension, consent }: Task | StatusFrame): string {
    if (consent?.operation !== undefined) return plain(JSON.stringify(consent.operation))
    if (suspension === undefined || now_ === 'unknown' || !isPaused(now_)) return ''
    return io.paint(
      'dim',
      `wakes ${plain(waitText(suspension.conditions, suspension.deadlineAt, now()))}`,
    )
  }

  function artifact({ artifact, append }: ArtifactFrame): void {
    const id = artifact.artifactId
    const isText = artifact.parts.every((part) => 'text' in part)
    if (!isText) {
      io.print(`artifact  ${artifactLine(artifact, io.paint)}`)
      return
    }
    const received = artifact.parts.map((part) => ('text' in part ? plain(part.text) : '')).join('')
    const before = texts.get(id)
    const whole = append ? `${before ?? ''}${received}` : received
    texts.set(id, whole)
    // The text begins with the text that is already printed, so only the rest is written.
    if (before !== undefined && whole.startsWith(before)) {
      if (whole !== before) io.write(whole.slice(before.length))
      return
    }
    const again = before === undefined ? '' : io.paint('dim', '  (begins anew)')
    io.print(`artifact  ${io.paint('bold', plain(artifact.name ?? id))}${again}`)
    if (whole !== '') io.write(whole)
  }

  return {
    frame(frame) {
      const message = frame.kind === 'status' ? frame.status.message : undefined
      if (held !== undefined && withoutResult([held.artifact], message).length > 0) artifact(held)
      held = undefined
      switch (frame.kind) {
        case 'message':
          io.print(messageText(frame.message))
          return
        case 'task':
          status(frame.task)
          return
        case 'status':
          status(frame)
          return
        case 'artifact':
          if (frame.artifact.name === RESULT_NAME) held = frame
          else artifact(frame)
          return
        case 'reminder':
          io.print(reminderLine(frame.change))
      }
    },
  }
}
