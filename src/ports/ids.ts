/** Where identifiers and randomness come from. */
export interface IdSource {
  /** A UUIDv7: time-ordered, so that rows written together lie together. */
  readonly uuid: () => string
  /** In [0, 1). */
  readonly random: () => number
}
