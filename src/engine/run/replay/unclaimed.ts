/**
 * Decides whether a rebuilt run may execute an operation that is not in the journal.
 *
 * Newly deployed code may have a new step, or a new name for a recorded step. Lull cannot tell which. A renamed step
 * must not run again, because its side effect has happened. The rule:
 *
 *   A new operation runs after the code has called every operation that is recorded after the code's place.
 *   Until then it waits for the other branches. If the run stands still, the code has changed, and an operator decides.
 *
 * The place of the code is the record of the last result that it got. In sequential code that is the last operation it
 * called. Parallel branches have a place each. Removed and reordered operations do not matter, as long as the code calls
 * an operation that is recorded after them.
 *
 * An operator who resumes the task accepts every waiting operation as new, and the recorded one it waits for as removed.
 *
 * U1  Unchanged code is never stopped: it calls all recorded operations before it calls a new one.
 * U2  An operation inside a step is compared with the operations of the same attempt of that step, and with those outside
 *     of it. An operation outside of a step is not compared with the inside of a step that the code has called.
 * U3  Calling an operation, and finding out whether a new one may run, take the same time however many are recorded and
 *     however many wait. So a rebuild takes time in proportion to the journal.
 *
 * For U3 the recorded operations that the code has not called are in groups. A group has those that are compared with the
 * same new operations (U2): the inside of one attempt of a step that the code has called, or everything else.
 */
import { Heap } from '../../../core/values/heap.ts'
import { outerSteps } from './keys.ts'

/** A recorded operation. */
interface Recorded {
  readonly key: string
  /** The number of its record. */
  readonly seq: number
  readonly steps: ReturnType<typeof outerSteps>
  /** Undefined: the code has called it. */
  group: Group | undefined
}

/** A new operation that waits for recorded ones. */
interface Waiting {
  readonly key: string
  readonly place: number
  readonly start: () => void
}

const isFurther = (one: Waiting, other: Waiting): boolean => one.place > other.place

class Group {
  /** In the order of their records. Some have left the group since. */
  readonly #recorded: readonly Recorded[]
  /** For an operation that has left: a later one, before which all have left. */
  readonly #later: number[]
  #last: number
  /** New operations that wait for one of the group. The first is the one that may run first. */
  readonly waiting: Heap<Waiting> = new Heap(isFurther)

  constructor(recorded: readonly Recorded[]) {
    this.#recorded = recorded
    this.#later = recorded.map((_, index) => index + 1)
    this.#last = recorded.length - 1
    for (const one of recorded) one.group = this
  }

  /** The number of the last record of the group. */
  get last(): number {
    while (this.#last >= 0 && this.#recorded[this.#last]?.group !== this) this.#last--
    return this.#recorded[this.#last]?.seq ?? -1
  }

  /** The first operation after the place. */
  firstBehind(place: number): Recorded | undefined {
    const recorded = this.#recorded
    const begin = this.#indexBehind(place)
    let found = begin
    while (found < recorded.length && recorded[found]?.group !== this) {
      found = this.#later[found] ?? recorded.length
    }
    // The next search skips all of them at once.
    for (let index = begin; index < found; ) {
      const next = this.#later[index] ?? found
      this.#later[index] = found
      index = next
    }
    return recorded[found]
  }

  #indexBehind(place: number): number {
    let [from, to] = [0, this.#recorded.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#recorded[middle]?.seq ?? 0) <= place) from = middle + 1
      else to = middle
    }
    return from
  }
}

export class Unclaimed {
  readonly #recorded: Map<string, Recorded> = new Map()
  /** How many of them the code has not called. */
  #left: number
  /** The recorded operations inside of each step that the code has not called. */
  readonly #inside: Map<string, Recorded[]> = new Map()
  /** How many operations inside of each step the code has not called. */
  readonly #insideLeft: Map<string, number> = new Map()
  /** By the prefix of the attempt that the operations are in. The empty one has everything else. */
  readonly #groups: Map<string, Group> = new Map()

  /** @param recorded operations by key, with the numbers of their records */
  constructor(recorded: Map<string, number>) {
    for (const [key, seq] of recorded) {
      const one: Recorded = { key, seq, steps: outerSteps(key), group: undefined }
      this.#recorded.set(key, one)
      for (const step of one.steps) {
        const inside = this.#inside.get(step.key)
        if (inside === undefined) this.#inside.set(step.key, [one])
        else inside.push(one)
        this.#insideLeft.set(step.key, (this.#insideLeft.get(step.key) ?? 0) + 1)
      }
    }
    this.#left = recorded.size
    this.#groups.set('', new Group(inOrder([...this.#recorded.values()])))
  }

  /** Whether the code has called every recorded operation. Any operation may run then. */
  get isEmpty(): boolean {
    return this.#left === 0
  }

  /** The recorded operations that the code has not called. */
  get keys(): readonly string[] {
    return [...this.#recorded.keys()].filter((key) => this.has(key))
  }

  has(key: string): boolean {
    return this.#recorded.get(key)?.group !== undefined
  }

  /** The code calls an operation. New operations that have waited for it alone start. */
  noteCall(key: string): void {
    if (this.#left === 0) return
    this.#leave(key)
    this.#enter(key)
  }

  /** The first operation after the place that the code has not called. Undefined if the new operation may run. */
  behind(place: number, key: string): string | undefined {
    if (this.#left === 0) return undefined
    let first: Recorded | undefined
    for (const group of this.#groupsOf(key)) {
      const found = group.last > place ? group.firstBehind(place) : undefined
      if (found !== undefined && (first === undefined || found.seq < first.seq)) first = found
    }
    return first?.key
  }

  /** Calls `start` when nothing is behind the place any more. It is called at once if nothing is. */
  whenNothingBehind(waiting: Waiting): void {
    const { key, place, start } = waiting
    const group = this.#groupsOf(key).find(({ last }) => last > place)
    if (group === undefined) start()
    else group.waiting.add(waiting)
  }

  /** Whether an operation inside that step is recorded, so that the step had begun. */
  hasInside(step: string): boolean {
    return (this.#insideLeft.get(step) ?? 0) > 0
  }

  #leave(key: string): void {
    const one = this.#recorded.get(key)
    const group = one?.group
    if (one === undefined || group === undefined) return
    this.#left--
    for (const step of one.steps) {
      this.#insideLeft.set(step.key, (this.#insideLeft.get(step.key) ?? 0) - 1)
    }
    one.group = undefined
    this.#startWaiting(group)
  }

  /** The code calls the step. What is recorded inside of it gets groups of its own (U2). */
  #enter(step: string): void {
    const recorded = this.#inside.get(step)
    if (recorded === undefined) return
    this.#inside.delete(step)
    const left = new Set<Group>()
    const byPrefix = new Map<string, Recorded[]>()
    for (const one of recorded) {
      if (one.group === undefined) continue
      const prefix = this.#innermost(one)
      if (this.#groups.get(prefix) === one.group) continue
      left.add(one.group)
      const others = byPrefix.get(prefix)
      if (others === undefined) byPrefix.set(prefix, [one])
      else others.push(one)
    }
    for (const [prefix, ones] of byPrefix) this.#groups.set(prefix, new Group(inOrder(ones)))
    for (const group of left) this.#startWaiting(group)
  }

  /** The prefix of the innermost attempt of a called step that the operation is in. */
  #innermost({ steps }: Recorded): string {
    return steps.findLast(({ key }) => !this.#inside.has(key))?.prefix ?? ''
  }

  #startWaiting(group: Group): void {
    for (let one = group.waiting.first; one !== undefined; one = group.waiting.first) {
      if (group.last > one.place) return
      group.waiting.takeFirst()
      this.whenNothingBehind(one)
    }
  }

  /** The groups that the operation is compared with. */
  #groupsOf(key: string): readonly Group[] {
    const prefixes = ['', ...outerSteps(key).map(({ prefix }) => prefix)]
    return prefixes.map((prefix) => this.#groups.get(prefix)).filter((one) => one !== undefined)
  }
}

function inOrder(recorded: Recorded[]): readonly Recorded[] {
  return recorded.sort((one, other) => one.seq - other.seq)
}

/** For a run that is not rebuilt. */
export const nothingUnclaimed: Unclaimed = new Unclaimed(new Map())
