/** The memory the process uses. The engine drops warm runs when it is too much. */
export interface MemoryUsage {
  readonly usedBytes: () => number
}
