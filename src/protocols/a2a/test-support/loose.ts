// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
export type Loose = any
