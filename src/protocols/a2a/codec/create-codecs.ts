/** Creates all codecs of a server, and chooses the codec for a request. */
import type { A2AConfig } from '../config.ts'
import { createMetadata } from '../dialects/harn.ts'
import { TASK_CONTROL } from '../extensions.ts'
import { type Codec, createNewest, type StateSpelling, type WebhookShape } from './codec.ts'
import { createV1 } from './v1.ts'
import { createV03 } from './v03.ts'
import { createV03Rest, type V03Rest } from './v03-rest.ts'

export interface Codecs {
  readonly v1: Codec
  readonly v03: Readonly<Record<StateSpelling, Codec>>
  readonly v03Rest: Readonly<Record<StateSpelling, V03Rest>>
}

export function createCodecs(config: A2AConfig): Codecs {
  const facts = createMetadata(config.harnTunnel)
  const newest = createNewest(config.historyBytes)
  const v03 = { rfc: createV03('rfc', facts, newest), core: createV03('core', facts, newest) }
  return {
    v1: createV1({ consentState: config.consentState, newest }, facts),
    v03,
    v03Rest: {
      rfc: createV03Rest(v03.rfc, 'rfc', facts, newest),
      core: createV03Rest(v03.core, 'core', facts, newest),
    },
  }
}

/**
 * How states are named in the answer to a 0.3 request. Official 0.3 clients fail on a state that
 * their specification does not have. They take their address from the card, and that address
 * answers with core states. A request that activates the task-control extension gets the states of
 * the RFCs at either address.
 */
export function stateSpelling(
  { v03States }: Pick<A2AConfig, 'v03States'>,
  atCoreAddress: boolean,
  active: ReadonlySet<string>,
): StateSpelling {
  if (v03States !== undefined) return v03States
  return atCoreAddress && !active.has(TASK_CONTROL) ? 'core' : 'rfc'
}

/** The codec that writes webhook bodies of this shape. The Bindu dialect has its own writer. */
export function webhookCodec(
  { v1, v03 }: Codecs,
  shape: Exclude<WebhookShape, '0.3-bindu'>,
): Codec {
  const codecs = { '1.0': v1, '0.3': v03.rfc, '0.3-core': v03.core }
  return codecs[shape]
}
