import type { MemoryUsage } from '../../ports/memory.ts'

export const systemMemory: MemoryUsage = {
  usedBytes: () => process.memoryUsage.rss(),
}
