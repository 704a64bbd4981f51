/** How much memory the process uses, so that warm runs can be given up before it is short. */
export interface Memory {
  readonly usedBytes: () => number
}
