/** Asks other processes for the live text of tasks that they run, and asks again every while, because wishes may be lost. */
import type { Clock } from '../../ports/clock.ts'
import type { TextWish } from '../../ports/store/cluster.ts'
import { WISH_MS } from './text-sender.ts'

export interface TextWishes {
  ask(wishes: readonly TextWish[]): void
  askAll(): void
  /** Asks for everything after a while, and again while something is followed. */
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
