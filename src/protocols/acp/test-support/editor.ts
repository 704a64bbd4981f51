/** A client that speaks plain JSON-RPC, so that a test sees everything the agent sends, legal or not. For tests only. */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at, not typed
export type Loose = any

export class EditorError extends Error {
  readonly code: number
  readonly data: Loose
  constructor({ code, message, data }: { code: number; message: string; data?: Loose }) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface Editor {
  request(method: string, params?: unknown): Promise<Loose>
  /** With the id it was sent under, so that it can be cancelled. */
  begin(method: string, params?: unknown): { readonly id: number; readonly answer: Promise<Loose> }
  notify(method: string, params?: unknown): Promise<void>
  /** A line of its own making. */
  send(message: Loose): Promise<void>
  /** Answers requests of the agent; without one they are refused as unknown. */
  on(method: string, handler: (params: Loose, id: number) => Promise<Loose> | Loose): void
  /** Everything received, in order. */
  readonly received: readonly Loose[]
  /** The updates among it. */
  updates(kind?: string): readonly Loose[]
  notifications(method: string): readonly Loose[]
  /** What the agent said in words, without gaps. */
  text(): string
  /** Gone without a word. */
  close(): Promise<void>
}

export function createEditor(stream: Stream): Editor {
  const writer = stream.writable.getWriter()
  const received: Loose[] = []
  const waiting = new Map<number, (message: Loose) => void>()
  const handlers = new Map<string, (params: Loose, id: number) => Loose>()
  let ids = 0

  const send = (message: Loose): Promise<void> => writer.write(message as AnyMessage)

  async function answer({ id, method, params }: Loose): Promise<void> {
    const handler = handlers.get(method)
    if (handler === undefined) {
      return send({ jsonrpc: '2.0', id, error: { code: -32601, message: `no ${method}` } })
    }
    return send({ jsonrpc: '2.0', id, result: await handler(params, id) })
  }

  async function read(): Promise<void> {
    const reader = stream.readable.getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const message: Loose = value
      received.push(message)
      if (message.method === undefined) waiting.get(message.id)?.(message)
      else if (message.id !== undefined) answer(message).catch(() => undefined)
    }
  }
  read().catch(() => undefined)

  const begin: Editor['begin'] = (method, params = {}) => {
    const id = ++ids
    const answer = new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result)
        else reject(new EditorError(error))
      })
    })
    answer.catch(() => undefined)
    send({ jsonrpc: '2.0', id, method, params }).catch(() => undefined)
    return { id, answer }
  }

  const notifications = (method: string): readonly Loose[] =>
    received.filter((one) => one.id === undefined && one.method === method).map((one) => one.params)

  const updates = (kind?: string): readonly Loose[] =>
    notifications('session/update')
      .map(({ update }) => update)
      .filter(({ sessionUpdate }) => kind === undefined || sessionUpdate === kind)

  return {
    begin,
    request: (method, params) => begin(method, params).answer,
    notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
    send,
    on: (method, handler) => handlers.set(method, handler),
    received,
    updates,
    notifications,
    text: () =>
      updates('agent_message_chunk')
        .map(({ content }) => content.text ?? '')
        .join(''),
    close: () => writer.close(),
  }
}
