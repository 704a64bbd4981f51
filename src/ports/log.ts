export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Where the engine reports. `fields` are structured and never hold inputs, bodies or secrets. */
export type Log = (
  level: LogLevel,
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void
