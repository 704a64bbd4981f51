import type { RunCore } from './run-core.ts'

/**
 * The result of an agent's function (`digest`, `compact`), or a default value if the function fails. The failure is
 * logged and not thrown. The caller records the result, so a rebuilt run does not call the function again.
 */
export async function orDefault<T>(
  { host, taskId }: Pick<RunCore, 'host' | 'taskId'>,
  name: 'digest' | 'compact',
  make: () => Promise<T>,
  makeDefault: () => Promise<T> | T,
): Promise<T> {
  try {
    return await make()
  } catch (error) {
    host.log('error', `the agent's ${name} failed; the default takes its place`, { taskId, error })
    return makeDefault()
  }
}
