import type { EngineDeps } from '../../../engine/deps.ts'

/** The methods of the store for webhooks. */
export type PushStore = Pick<
  EngineDeps['store'],
  'putPush' | 'replacePush' | 'pushes' | 'deletePush' | 'listPushes' | 'cluster'
>
