/**
 * Asks other processes for the live text of tasks that they run, and repeats the request regularly,
 * because requests may be lost.
 */
import type { Clock } from '../../ports/clock.ts'
import type { TextWish } from '../../ports/store/cluster.ts'
import { WISH_MS } from './text-sender.ts'

export interface TextWishes {
  ask(wishes: readonly TextWish[]): void
  askAll(): void
  /** Asks for all wanted texts after a while, and repeats it while any task is followed. */
  askLater(): void
  stop(): void
}

const ASK_MS = WISH_MS / 3

/**
 * @param all what to ask for now
 * @param follows whether to go on asking
 */
export function createTextWishes(
  report: (wishes: readonly TextWish[]) => void,
  all: () => readonly TextWish[],
  follows: () => boolean,
  clock: Clock,
): TextWishes {
  let cancel: (() => void) | undefined

  function ask(wishes: readonly TextWish[]): void {
    if (wishes.length > 0) report(wishes)
  }

  function askLater(): void {
    cancel ??= clock.after(ASK_MS, () => {
      cancel = undefined
      ask(all())
      if (follows()) askLater()
    })
  }

  return { ask, askAll: () => ask(all()), askLater, stop: () => cancel?.() }
}
