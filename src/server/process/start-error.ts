/**
 * The server could not start. The message is for operators, and the CLI prints it without a stack.
 *
 * @example
 * ```ts
 * import { agent, serve, StartError } from 'lull'
 *
 * const echo = agent({ name: 'echo', description: 'Repeats', run: (task) => task.text })
 *
 * try {
 *   await serve({ agents: [echo], port: 8787 })
 * } catch (error) {
 *   if (!(error instanceof StartError)) throw error
 *   process.stderr.write(`${error.message}\n`)
 * }
 * ```
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}

type Sentence = (host: string, port: number) => string

const sentences: Readonly<Record<string, Sentence>> = {
  EADDRINUSE: (_, port) =>
    `Port ${port} is already in use. Stop what listens there, or choose another one (--port, PORT; 0 takes a free one).`,
  EACCES: (_, port) => `Port ${port} may not be used by this user; choose one above 1023.`,
  EADDRNOTAVAIL: (host) => `${host} is not an address of this machine.`,
  EMFILE: () => 'The process may not open enough files; raise its limit (ulimit -n).',
  ENOTFOUND: (host) => `${host} is not the name of any machine.`,
}

/** The error to throw if the address cannot be bound. */
export function listenError(error: NodeJS.ErrnoException, host: string, port: number): StartError {
  const sentence = sentences[error.code ?? '']
  const text = sentence?.(host, port) ?? `Cannot listen on ${host}, port ${port}: ${error.message}`
  return new StartError(text, { cause: error })
}
