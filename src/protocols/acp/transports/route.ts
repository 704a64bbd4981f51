/**
 * Chooses the protocol version by the first message of a client. The SDK's router is loaded only
 * for a client that supports more than version 1, because loading the schemas of version 2 doubles
 * the start time.
 */
import type { AgentConnector, AnyMessage, Stream } from '@agentclientprotocol/sdk'

export interface Wire {
  readonly closed: Promise<void>
  close(): void
  /** Called by the SDK's server when `initialize` was answered. */
  startConnectHandlers(): void
}

export interface Versions {
  readonly v1: () => AgentConnector
  readonly v2: () => Promise<AgentConnector>
}

export function route(stream: Stream, versions: Versions): Wire {
  const reader = stream.readable.getReader()
  const { writable } = stream
  let close = (): void => void reader.cancel().catch(() => undefined)

  async function connect(): Promise<void> {
    const { value: first, done } = await reader.read()
    if (done) return
    const readable = again(first, reader)
    const connector = offersMore(first) ? await both(versions) : versions.v1()
    const wire = connector.connect({ readable, writable }) as Partial<Wire>
    if (wire.close !== undefined) close = wire.close.bind(wire)
    await wire.closed
  }

  return {
    closed: connect().catch(() => undefined),
    close: () => close(),
    startConnectHandlers: () => undefined,
  }
}

function offersMore(message: AnyMessage): boolean {
  if (!('method' in message) || message.method !== 'initialize') return false
  const { protocolVersion } = (message.params ?? {}) as { readonly protocolVersion?: unknown }
  return typeof protocolVersion === 'number' && protocolVersion > 1
}

async function both({ v1, v2 }: Versions): Promise<AgentConnector> {
  const { agentProtocolRouter } = await import('@agentclientprotocol/sdk/experimental/v2')
  return agentProtocolRouter()
    .withV1(v1())
    .withV2(await v2())
}

/** The stream with its first message put back. */
function again(
  first: AnyMessage,
  reader: ReadableStreamDefaultReader<AnyMessage>,
): ReadableStream<AnyMessage> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(first)
    },
    async pull(controller) {
      const { value, done } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
