/**
 * One editor that is connected. It can go at any moment, and then it only detaches: tasks go on, stopped ones stay
 * stopped, and what it was asked is asked again when it or another one attaches.
 */
import type { Message } from '../../../core/message.ts'
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
  /** The client; it has said who it is. */
  peer(): Peer
  setPeer(peer: Peer): void
  /** Attached to the session; it is found and attached to if it was not. */
  attached(sessionId: string): Promise<Attachment>
  /** Attached, or once more: an open prompt goes on. */
  attach(session: Session, replays: boolean): Promise<Attachment>
  release(sessionId: string): Promise<void>
  /** Notes that this connection sends the message itself. A prompt waits for what comes of it. */
  sending(messageId: string, as: 'prompt' | 'aside'): void
  /** Resolves when every prompt that came before this call is routed or queued. */
  promptsRouted(sessionId: string): Promise<void>
  /** After the answer to the request at hand. */
  later(act: () => Promise<void>): void
  /** Something outside any task. */
  say(sessionId: string, message: Message): Promise<void>
  /** The client is gone. */
  close(): void
}

export function createConnection(acp: AcpContext, caller: Caller): Connection {
  const attachments = new Map<string, Promise<Attachment>>()
  const sent = new Map<string, 'prompt' | 'aside'>()
  const gone = new AbortController()
  let known: Peer | undefined

  function peer(): Peer {
    if (known === undefined) throw new Error('the client has not initialized')
    return known
  }

  async function release(sessionId: string): Promise<void> {
    const made = attachments.get(sessionId)
    attachments.delete(sessionId)
    await made?.then(
      (attachment) => attachment.detach(),
      () => undefined,
    )
  }

  function attachTo(session: Session, replays: boolean): Promise<Attachment> {
    const sessionId = session.id
    const client = peer()
    const { signal } = gone
    const made = attach({
      acp,
      caller,
      session,
      replays,
      prompted: (messageId) => sent.get(messageId) === 'prompt',
      sender: createSessionSender({ acp, caller, peer: client, sessionId, sent, gone: signal }),
      questions: (dismissed) =>
        createQuestions({ acp, caller, peer: client, sessionId, dismissed }),
    })
    attachments.set(sessionId, made)
    made.then(
      (attachment) => {
        if (signal.aborted) attachment.detach()
      },
      () => {
        if (attachments.get(sessionId) === made) attachments.delete(sessionId)
      },
    )
    return made
  }

  return {
    acp,
    caller,
    peer,
    setPeer(client) {
      known = client
    },
    async attached(sessionId) {
      const session = await acp.sessions.get(caller, sessionId)
      return attachments.get(sessionId) ?? attachTo(session, false)
    },
    async attach(session, replays) {
      const known = attachments.get(session.id)
      if (known === undefined) return attachTo(session, replays)
      const attachment = await known
      await attachment.again(replays)
      return attachment
    },
    release,
    sending: (messageId, as) => sent.set(messageId, as),
    async promptsRouted(sessionId) {
      const pass = await acp.sessionLocks.enter(keyOf(caller, sessionId))
      pass()
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
