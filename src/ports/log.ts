export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Where the engine reports. `facts` are structured and never hold inputs, bodies or secrets. */
export type Log = (level: LogLevel, text: string, facts?: Readonly<Record<string, unknown>>) => void
