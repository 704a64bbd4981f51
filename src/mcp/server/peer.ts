/**
 * What the client of a request supports: declared with the request itself (2026-07-28), or for the
 * connection (2025-11-25).
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'

export const TASKS = 'io.modelcontextprotocol/tasks'

export interface Peer {
  /** Whether the client uses 2026-07-28. */
  readonly isModern: boolean
  /** Whether the client declared the extension for tasks, which exists in 2026-07-28. */
  readonly knowsTasks: boolean
  /** Whether the client shows questions to its user. */
  readonly canAsk: boolean
}

/** The metadata of a request that the SDK has validated. The SDK's own type has no members. */
interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
}

export function peerOf(server: Server, { mcpReq }: ServerContext): Peer {
  const envelope: Envelope | undefined = mcpReq.envelope
  const isModern = envelope !== undefined
  const declared = isModern
    ? envelope[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities()
  const asking = declared?.elicitation
  return {
    isModern,
    knowsTasks: isModern && declared?.extensions?.[TASKS] !== undefined,
    // An empty capability means forms. With `url` alone, the client shows no forms.
    canAsk: asking !== undefined && (asking.form !== undefined || asking.url === undefined),
  }
}

/**
 * The client of a method of MCP tasks.
 * @throws ProtocolError for a client of 2026-07-28 that has not declared the extension
 */
export function peerWithTasks(server: Server, context: ServerContext): Peer {
  const peer = peerOf(server, context)
  if (peer.isModern && !peer.knowsTasks) {
    const requiredCapabilities = { extensions: { [TASKS]: {} } }
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
  }
  return peer
}
