import type { MemoryUsage } from '../../ports/memory.ts'

/**
 * Memory of this process. The system is asked through a file, so it cannot be read while the process has no free file
 * descriptor. The answer is then the last one.
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
        // There is no free descriptor.
      }
      return last
    },
  }
}

export const systemMemory: MemoryUsage = createSystemMemory()
