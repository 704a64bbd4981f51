/**
 * Ours and what it is compared with take turns, so that both meet the same neighbours, and the ratio is taken within
 * each turn: when the machine slows down it slows both.
 */
import { median } from './statistics.mjs'

/** @param measures name -> function that measures once and gives a number */
export async function takeTurns(repeats, measures) {
  const names = Object.keys(measures)
  const values = Object.fromEntries(names.map((name) => [name, []]))
  for (let turn = 0; turn < repeats; turn++) {
    // Back and forth: whoever came last goes first, so that neither always runs on a warmer machine.
    const order = turn % 2 === 0 ? names : names.toReversed()
    for (const name of order) values[name].push(await measures[name]())
  }
  return values
}

/** The median of the ratios of each turn. */
export function ratio(ours, theirs) {
  return median(ours.map((value, turn) => value / theirs[turn]))
}

export function difference(ours, theirs) {
  return median(ours.map((value, turn) => value - theirs[turn]))
}

export function elapsed(since) {
  return performance.now() - since
}
