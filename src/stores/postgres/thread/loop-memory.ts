/**
 * Shared memory in which the event loop writes which task's code runs, for the guard thread. The thread reads it only while
 * the loop is blocked, so it never sees a half-written value.
 */

const LONGEST_ID = 256
const HEADER = 12
/**
 * A header and two task ids: the task whose code runs now, and the task that is the only one whose code ran since the loop
 * turned last.
 */
const BYTES: number = HEADER + 2 * LONGEST_ID

type Place = 'running' | 'suspect'
const places: Readonly<Record<Place, number>> = { running: 0, suspect: 1 }

export interface LoopMemory {
  readonly memory: SharedArrayBuffer
  turn(): void
  /** Changes whenever the loop turns. */
  readonly turns: () => number
  write(place: Place, taskId: string | undefined): void
  /** The task whose code blocks the loop, as far as it is known. */
  readonly blockedBy: () => string | undefined
}

export function createLoopMemory(
  memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES),
): LoopMemory {
  const numbers = new Int32Array(memory, 0, HEADER / 4)
  const texts = (['running', 'suspect'] as const).map(
    (place) => new Uint8Array(memory, HEADER + places[place] * LONGEST_ID, LONGEST_ID),
  )
  const encoder = new TextEncoder()

  function read(place: Place): string | undefined {
    const length = Atomics.load(numbers, 1 + places[place])
    const text = texts[places[place]]
    // `TextDecoder` does not accept shared memory, so it gets a copy.
    return length === 0 ? undefined : new TextDecoder().decode(text?.slice(0, length))
  }

  return {
    memory,
    turn() {
      Atomics.add(numbers, 0, 1)
    },
    turns: () => Atomics.load(numbers, 0),
    write(place, taskId = '') {
      const at = places[place]
      const { read: all, written } = encoder.encodeInto(taskId, texts[at] ?? new Uint8Array())
      Atomics.store(numbers, 1 + at, all === taskId.length ? written : 0)
    },
    blockedBy: () => read('running') ?? read('suspect'),
  }
}
