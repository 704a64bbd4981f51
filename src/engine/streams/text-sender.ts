/**
 * Sends the live text of tasks that run here to other processes. Only texts that another process
 * asked for are sent, so it costs nothing while no other process has readers.
 *
 *  X1  The first text is sent at once, later ones at most every `PACE_MS` for all tasks together,
 *      with at most `MOST` new units.
 *  X2  Receivers repeat their request regularly. A text without a recent request is no longer sent.
 */
import type { LiveText, TextPosition } from '../../core/messages/live-text.ts'
import { type TextNews, tell } from '../../core/messages/text-news.ts'
import type { Task } from '../../core/task.ts'
import type { ClusterStore, TextWish } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { LiveTexts } from './live-texts.ts'

export interface TextSender {
  /** Called when another process asks for texts. */
  wanted(wishes: readonly TextWish[]): void
  /** Called when the texts or the version of the task have changed. */
  changed(taskId: string): void
  stop(): void
}

/** A request is dropped this long after it was last repeated. */
export const WISH_MS = 15_000
const PACE_MS = 50
/** The most UTF-16 units of new text per flush. The rest follows with the next flushes. */
const MOST = 65_536

interface Wish {
  until: number
  token: string
  /** The number of the last message. */
  number: number
  /** How much of each text the other processes have. */
  positions: readonly TextPosition[]
  /** Whether a receiver asked for the text and must get an answer even if there is none. */
  isAsked: boolean
}

interface News {
  readonly news: TextNews
  readonly size: number
  readonly isPartial: boolean
}

/** The next message for a request. Undefined if there is nothing to send. */
function tellTo(
  wish: Wish,
  { id: taskId, version }: Task,
  number: number,
  texts: readonly LiveText[],
  limit: number,
): News | undefined {
  const { token } = wish
  const { pieces, positions, size, isPartial } = tell(texts, wish.positions, limit)
  const isNews = wish.isAsked || pieces.length > 0 || wish.positions.length > 0
  wish.positions = positions
  wish.isAsked = false
  if (!isNews) return undefined
  wish.number = number
  return { news: { taskId, token, version, number, pieces }, size, isPartial }
}

const nothingTold = { number: 0, positions: [], isAsked: true }

/** @param context its parts are read only after the engine is assembled */
export function createTextSender(
  context: Pick<EngineContext, 'clock' | 'runs'>,
  { cluster, live }: { readonly cluster: Pick<ClusterStore, 'report'>; readonly live: LiveTexts },
): TextSender {
  const wishes = new Map<string, Wish>()
  const changedTasks = new Set<string>()
  let number = 0
  let phase: 'idle' | 'due' | 'pausing' | 'stopped' = 'idle'
  let cancel: () => void = () => undefined

  function changed(taskId: string): void {
    if (!wishes.has(taskId)) return
    changedTasks.add(taskId)
    if (phase === 'idle') flushSoon()
  }

  /** Sends the changes of one event-loop turn together. */
  function flushSoon(): void {
    phase = 'due'
    setImmediate(flush)
  }

  function flush(): void {
    if (phase === 'stopped') return
    phase = 'pausing'
    cancel = context.clock.after(PACE_MS, () => {
      phase = 'idle'
      if (changedTasks.size > 0) flushSoon()
    })
    const texts: TextNews[] = []
    let left = MOST
    for (const taskId of [...changedTasks]) {
      if (left <= 0) break
      changedTasks.delete(taskId)
      const told = newsOf(taskId, left)
      if (told === undefined) continue
      texts.push(told.news)
      left -= told.size
      if (told.isPartial) changedTasks.add(taskId)
    }
    if (texts.length > 0) cluster.report({ texts })
  }

  function newsOf(taskId: string, limit: number): News | undefined {
    const wish = wishes.get(taskId)
    const { clock, runs } = context
    const task = runs.known(taskId)
    if (wish === undefined || task?.run === undefined || clock.elapsed() > wish.until) {
      wishes.delete(taskId)
      return undefined
    }
    const { token } = task.run
    if (wish.token !== token) Object.assign(wish, nothingTold, { token })
    return tellTo(wish, task, ++number, live.of(taskId), limit)
  }

  return {
    changed,
    wanted(asked) {
      const { clock, runs } = context
      for (const { taskId, heard } of asked) {
        const token = runs.known(taskId)?.run?.token
        if (token === undefined) continue
        const wish = wishes.get(taskId) ?? { ...nothingTold, token, until: 0 }
        wish.until = clock.elapsed() + WISH_MS
        if (heard === 0 || heard !== wish.number) Object.assign(wish, nothingTold)
        wishes.set(taskId, wish)
        if (wish.isAsked) changed(taskId)
      }
    },
    stop() {
      phase = 'stopped'
      cancel()
    },
  }
}
