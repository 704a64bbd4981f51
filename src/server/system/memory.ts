import type { MemoryUsage } from '../../ports/memory.ts'

/**
 * Memory of this process. The system reads it from a file, which fails while no file descriptor is
 * free. Then the last value is returned.
 */
export function createSystemMemory(
  resident: () => number = () => process.memoryUsage.rss(),
): MemoryUsage {
  let last = 0
  return {
    usedBytes() {
      try {
        last = resident()
      } catch {
        // No file descriptor is free.
      }
      return last
    },
  }
}

export const systemMemory: MemoryUsage = createSystemMemory()
