/**
 * One connected client. It can disconnect at any moment, which has no effect on tasks: running
 * tasks continue, stopped tasks stay stopped, and an open question is asked again when a client
 * attaches.
 */
import type { Message } from '../../../core/messages/message.ts'
import type { Caller } from '../../../engine/caller.ts'
import { agentChunks } from '../render/updates.ts'
import type { Attachment } from '../sessions/attachment.ts'
import { keyOf, type Session } from '../sessions/sessions.ts'
import { createAttachments } from './attachments.ts'
import type { AcpContext } from './context.ts'
import type { Peer } from './peer.ts'

export interface Connection {
  readonly acp: AcpContext
  readonly caller: Caller
  /**
   * The client in its version of the protocol.
   * @throws Error before `initialize`
   */
  peer(): Peer
  setPeer(peer: Peer): void
  /** @throws LullError when the connection may not attach to another session */
  checkRoom(): void
  /** The attachment to the session. Attaches if necessary. */
  attached(sessionId: string): Promise<Attachment>
  /** Attaches, possibly once more. An open prompt continues. */
  attach(session: Session, replays: boolean): Promise<Attachment>
  release(sessionId: string): Promise<void>
  /**
   * Remembers that this connection sends the message. A prompt is answered when its task is idle;
   * an `aside` is not waited for.
   */
  sending(messageId: string, as: 'prompt' | 'aside'): void
  /** Resolves when every prompt that arrived before this call was passed to a task or queued. */
  promptsRouted(sessionId: string): Promise<void>
  /** Runs `act` after the current request was answered. */
  later(act: () => Promise<void>): void
  /** Shows a message of the agent that belongs to no task. */
  say(sessionId: string, message: Message): Promise<void>
  /** Called when the client has disconnected. */
  close(): void
}

export function createConnection(acp: AcpContext, caller: Caller): Connection {
  const sent = new Map<string, 'prompt' | 'aside'>()
  const gone = new AbortController()
  let known: Peer | undefined

  function peer(): Peer {
    if (known === undefined) throw new Error('the client has not initialized')
    return known
  }

  const attachments = createAttachments({ acp, caller, peer, sent, gone: gone.signal })

  return {
    acp,
    caller,
    peer,
    setPeer(client) {
      known = client
    },
    checkRoom: attachments.checkRoom,
    async attached(sessionId) {
      const session = await acp.sessions.get(caller, sessionId)
      return attachments.get(sessionId) ?? attachments.add(session, false)
    },
    async attach(session, replays) {
      const attaching = attachments.get(session.id)
      if (attaching === undefined) return attachments.add(session, replays)
      const attachment = await attaching
      await attachment.again(replays)
      return attachment
    },
    release: attachments.release,
    sending: (messageId, as) => sent.set(messageId, as),
    async promptsRouted(sessionId) {
      const unlock = await acp.sessionLocks.enter(keyOf(caller, sessionId))
      unlock()
    },
    later(act) {
      setImmediate(() => {
        if (!gone.signal.aborted) act().catch(() => undefined)
      })
    },
    async say(sessionId, message) {
      for (const update of agentChunks(message)) await peer().update(sessionId, update)
    },
    close() {
      gone.abort()
      attachments.releaseAll()
    },
  }
}
