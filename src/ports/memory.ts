/** The memory usage of the process. The engine evicts warm runs when it is too high. */
export interface MemoryUsage {
  readonly usedBytes: () => number
}
