/** The sessions that one connection is attached to. */
import { LullError } from '../../../core/errors.ts'
import type { Caller } from '../../../engine/caller.ts'
import { createQuestions } from '../prompts/questions.ts'
import { type Attachment, attach } from '../sessions/attachment.ts'
import { createSessionSender } from '../sessions/session-sender.ts'
import type { Session } from '../sessions/sessions.ts'
import type { AcpContext } from './context.ts'
import type { Peer } from './peer.ts'

/** The most sessions that one connection may be attached to. Each takes about 20 kB. */
const SESSIONS = 1_000

export interface Attachments {
  /** @throws LullError `LIMIT_EXCEEDED` when the connection may not attach to another session */
  checkRoom(): void
  get(sessionId: string): Promise<Attachment> | undefined
  add(session: Session, replays: boolean): Promise<Attachment>
  /** Detaches from the session. */
  release(sessionId: string): Promise<void>
  releaseAll(): void
}

export interface AttachmentsDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly peer: () => Peer
  /**
   * The messages that this connection sent, and whether each is a prompt or a message without an
   * answer (`aside`).
   */
  readonly sent: ReadonlyMap<string, 'prompt' | 'aside'>
  /** Aborts when the connection is lost. */
  readonly gone: AbortSignal
}

export function createAttachments(deps: AttachmentsDeps): Attachments {
  const { acp, caller, sent, gone } = deps
  const attachments = new Map<string, Promise<Attachment>>()

  async function release(sessionId: string): Promise<void> {
    const attaching = attachments.get(sessionId)
    attachments.delete(sessionId)
    await attaching?.then(
      (attachment) => attachment.detach(),
      () => undefined,
    )
  }

  function checkRoom(): void {
    if (attachments.size < SESSIONS) return
    const limit = 'sessions of the connection'
    const instead = 'close sessions, or open another connection'
    throw new LullError('LIMIT_EXCEEDED', { limit, value: SESSIONS, instead })
  }

  return {
    checkRoom,
    get: (sessionId) => attachments.get(sessionId),
    add(session, replays) {
      checkRoom()
      const sessionId = session.id
      const peer = deps.peer()
      const attaching = attach({
        acp,
        caller,
        session,
        replays,
        prompted: (messageId) => sent.get(messageId) === 'prompt',
        sender: createSessionSender({ acp, caller, peer, sessionId, sent, gone }),
        questions: (dismissed) => createQuestions({ acp, caller, peer, sessionId, dismissed }),
      })
      attachments.set(sessionId, attaching)
      attaching.then(
        (attachment) => {
          if (gone.aborted) attachment.detach()
        },
        () => {
          if (attachments.get(sessionId) === attaching) attachments.delete(sessionId)
        },
      )
      return attaching
    },
    release,
    releaseAll() {
      for (const sessionId of [...attachments.keys()]) void release(sessionId)
    },
  }
}
