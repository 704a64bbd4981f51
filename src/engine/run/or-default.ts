import type { RunCore } from './core.ts'

/**
 * What a function of the agent's author makes (`digest`, `compact`), or the default where that function fails. The failure
 * is logged and not thrown: the caller records what comes out here, so a rebuilt run gets the same without another call.
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
