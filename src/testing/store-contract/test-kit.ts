/** The functions of a test runner that the contract uses. Vitest and Jest provide them. */
export interface TestKit {
  readonly describe: (name: string, tests: () => void) => unknown
  readonly it: (name: string, test: () => Promise<void>) => unknown
  readonly expect: Expect
  readonly beforeEach: (run: () => Promise<void>) => unknown
  readonly afterEach: (run: () => Promise<void>) => unknown
}

export interface Expect {
  (value: unknown, what?: string): Matchers
  objectContaining(shape: Record<string, unknown>): unknown
}

export interface Matchers {
  readonly not: Matchers
  readonly rejects: AsyncMatchers
  readonly resolves: AsyncMatchers
  toBe(value: unknown): void
  toBeDefined(): void
  toBeUndefined(): void
  toBeNull(): void
  toBeGreaterThan(value: number): void
  toContain(value: unknown): void
  toEqual(value: unknown): void
  toHaveLength(length: number): void
  toHaveProperty(name: string): void
}

export interface AsyncMatchers {
  toBe(value: unknown): Promise<void>
  toBeUndefined(): Promise<void>
  toEqual(value: unknown): Promise<void>
  toMatchObject(shape: Record<string, unknown>): Promise<void>
}
