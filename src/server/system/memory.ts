import type { Memory } from '../../ports/memory.ts'

export const systemMemory: Memory = {
  usedBytes: () => process.memoryUsage.rss(),
}
