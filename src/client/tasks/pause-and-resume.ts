/** Pause, resume and park, with fallbacks for peers without pause. The outcome always says which one was used. */
import type { Client } from '../client.ts'
import { isClientError, unsupported } from '../client-error.ts'
import {
  type DetachedOutcome,
  type PauseFallback,
  type PauseInput,
  type PauseOutcome,
  readPaused,
  readResumed,
} from '../control-shapes.ts'
import type { ClientParts } from '../parts.ts'
import { operations } from '../wire/a2a-names.ts'
import { present } from '../wire/json-members.ts'
import type { Reading } from './task-calls.ts'

type Controlling = Pick<Client, 'pause' | 'resume' | 'awaitResumption'>

export function createControl(
  parts: ClientParts,
  { cancel }: Reading,
  { watch }: Pick<Client, 'watch'>,
): Controlling {
  const { transport, streams } = parts

  /**
   * What is not on the card is not offered (RFC). Without a fallback the card is not read for this: the answer of the peer
   * says the same.
   */
  async function isOffered(fallback: PauseFallback, signal?: AbortSignal): Promise<boolean> {
    const card = fallback === 'fail' ? parts.knownCard() : await parts.card({ signal })
    return card?.capabilities.pause ?? true
  }

  async function asked(
    taskId: string,
    input: PauseInput,
    fallback: PauseFallback,
    signal?: AbortSignal,
  ): Promise<PauseOutcome | undefined> {
    if (!(await isOffered(fallback, signal))) return undefined
    try {
      const params = { taskId, ...input }
      return readPaused(await transport.call(operations.pause, params, { signal }))
    } catch (error) {
      // The card offers pause, and the peer refuses it.
      if (isClientError(error) && error.kind === 'unsupported') return undefined
      throw error
    }
  }

  function detached(taskId: string): DetachedOutcome {
    const after = streams.detach(taskId)
    return present<DetachedOutcome>({
      outcome: 'detached',
      taskId,
      after,
      reconnect: (options = {}) => watch(taskId, { ...options, after }),
    })
  }

  return {
    async pause(taskId, { fallback = 'fail', signal, ...input } = {}) {
      const outcome = await asked(taskId, input, fallback, signal)
      if (outcome !== undefined) return outcome
      if (fallback === 'fail') throw unsupported('pause')
      if (fallback === 'detach') return detached(taskId)
      return { outcome: 'cancelled', taskId, task: await cancel(taskId, { signal }) }
    },
    async resume(taskId, { signal, ...input } = {}) {
      const params = { taskId, ...input }
      return readResumed(await transport.call(operations.resume, params, { signal }))
    },
    async awaitResumption(taskId, park, { signal } = {}) {
      const params = { taskId, ...park }
      return readPaused(await transport.call(operations.park, params, { signal }))
    },
  }
}
