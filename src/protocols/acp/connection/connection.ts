/**
 * One connected client. It can disconnect at any moment, which has no effect on tasks: running
 * tasks continue, stopped tasks stay stopped, and an open question is asked again when a client
 * attaches.
 */

import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import type { Caller } from '../../../engine/caller.ts'
import { createQuestions } from '../prompts/questions.ts'
import { agentChunks } from '../render/updates.ts'
import { type Attachment, attach } from '../sessions/attachment.ts'
import { createSessionSender } from '../sessions/session-sender.ts'
import { keyOf, type Session } from '../sessions/sessions.ts'
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

/** The most sessions that one connection may be attached to. Each takes about 20 kB. */
const SESSIONS = 1_000

export function createConnection(acp: AcpContext, caller: Caller): Connection {
  /** Whether each message of this connection is a prompt, or a message without an answer (`aside`). */
  const sent = new Map<string, 'prompt' | 'aside'>()
  /** Aborts when the connection is lost. */
  const gone = new AbortController()
  const attachments = new Map<string, Promise<Attachment>>()
  let known: Peer | undefined

  function peer(): Peer {
    if (known === undefined) throw new Error('the client has not initialized')
    return known
  }

  function checkRoom(): void {
    if (attachments.size < SESSIONS) return
    const limit = 'sessions of the connection'
    const instead = 'close sessions, or open another connection'
    throw new LullError('LIMIT_EXCEEDED', { limit, value: SESSIONS, instead })
  }

  function addAttachment(session: Session, replays: boolean): Promise<Attachment> {
    checkRoom()
    const sessionId = session.id
    const client = peer()
    const deps = { acp, caller, peer: client, sessionId }
    const attaching = attach({
      acp,
      caller,
      session,
      replays,
      prompted: (messageId) => sent.get(messageId) === 'prompt',
      sender: createSessionSender({ ...deps, sent, gone: gone.signal }),
      questions: (dismissed) => createQuestions({ ...deps, dismissed }),
    })
    attachments.set(sessionId, attaching)
    attaching.then(
      (attachment) => {
        if (gone.signal.aborted) attachment.detach()
      },
      () => {
        if (attachments.get(sessionId) === attaching) attachments.delete(sessionId)
      },
    )
    return attaching
  }

  async function release(sessionId: string): Promise<void> {
    const attaching = attachments.get(sessionId)
    attachments.delete(sessionId)
    await attaching?.then(
      (attachment) => attachment.detach(),
      () => undefined,
    )
  }

  return {
    acp,
    caller,
    peer,
    setPeer(client) {
      known = client
    },
    checkRoom,
    async attached(sessionId) {
      const session = await acp.sessions.get(caller, sessionId)
      return attachments.get(sessionId) ?? addAttachment(session, false)
    },
    async attach(session, replays) {
      const attaching = attachments.get(session.id)
      if (attaching === undefined) return addAttachment(session, replays)
      const attachment = await attaching
      await attachment.again(replays)
      return attachment
    },
    release,
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
      for (const sessionId of [...attachments.keys()]) void release(sessionId)
    },
  }
}
