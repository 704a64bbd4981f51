import type { EngineDeps } from '../../../engine/deps.ts'

/** The part of the store that keeps webhooks. */
export type PushStore = Pick<
  EngineDeps['store'],
  'putPush' | 'replacePush' | 'pushes' | 'deletePush' | 'listPushes' | 'cluster'
>
