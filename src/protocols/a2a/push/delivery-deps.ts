import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Codecs } from '../codec/create-codecs.ts'
import type { Post } from './post.ts'

export interface DeliveryDeps {
  readonly engine: Engine
  readonly store: PushStore
  readonly codecs: Codecs
  readonly post: Post
  /** The time limit of one request by `post`. */
  readonly timeoutMs: number
  readonly clock: EngineDeps['clock']
  readonly log: EngineDeps['log']
  readonly tracing?: EngineDeps['tracing']
  readonly meter?: EngineDeps['meter']
  /** Whether the credential with this id is still valid. */
  readonly stillValid: (credential: string) => Promise<boolean>
  /** A random number in [0, 1), which spreads retries. */
  readonly random: () => number
}

/** The methods of the store for webhooks. */
export type PushStore = Pick<
  EngineDeps['store'],
  'putPush' | 'replacePush' | 'pushes' | 'deletePush' | 'listPushes' | 'cluster'
>
