export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The engine's log. `fields` are structured and must not contain inputs, bodies or secrets. */
export type Log = (
  level: LogLevel,
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void
