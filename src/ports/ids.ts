/** The engine's only source of identifiers and random numbers. */
export interface IdSource {
  /** A UUIDv7. Ids are ordered by time, so rows that are written together are adjacent in an index. */
  readonly uuid: () => string
  /** A number in [0, 1). */
  readonly random: () => number
}
