import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Codecs } from '../codec/codecs.ts'
import type { Post } from './post.ts'
import type { PushStore } from './push-store.ts'

export interface DeliveryDeps {
  readonly engine: Engine
  readonly store: PushStore
  readonly codecs: Codecs
  readonly post: Post
  /** How long one request of `post` may take. */
  readonly timeoutMs: number
  readonly clock: EngineDeps['clock']
  readonly log: EngineDeps['log']
  readonly tracing?: EngineDeps['tracing']
  readonly meter?: EngineDeps['meter']
  /** Whether a credential is still valid. */
  readonly stillValid: (credential: string) => Promise<boolean>
  /** In [0, 1): spreads retries. */
  readonly random: () => number
}
