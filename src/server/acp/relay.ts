/**
 * Keeps the connection of an editor while the process that answers it changes. It knows what was said to the process that
 * is gone, and says it to the next one.
 *
 *  K1  A request that the dead process had not answered is answered with an error, once. The task itself goes on.
 *  K2  The next process is initialized as the editor initialized the first one, and every session of the connection is
 *      attached to it, before it gets anything else from the editor.
 *  K3  The editor's answers to a dead process reach nobody: the ids of its questions may be those of other questions now.
 */
import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { z } from 'zod'
import { withoutLongLines } from '../../protocols/acp/transports/stdio.ts'

interface Streams {
  readonly input: Readable
  readonly output: Writable
}

interface Relay {
  /** The streams on which the next process serves the editor. */
  upstream(): Streams
  /** Begins to read what the editor sends. */
  start(): void
  /** The process that served the editor is gone. Messages of the editor wait from now on. */
  interrupt(): void
  /** Brings the next process to where the last one was, and lets the messages through. */
  restore(): Promise<void>
}

const id = z.union([z.string(), z.number()])

const messageShape = z.looseObject({
  id: id.nullish(),
  method: z.string().optional(),
  params: z.looseObject({ sessionId: z.string().optional() }).optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
})

type Message = z.output<typeof messageShape>
type Params = Message['params']

const created = z.looseObject({ sessionId: z.string() })

/** Of calls that the relay makes itself. */
const OWN = 'lull-relay-'
const GONE = {
  code: -32_603,
  message: 'The process that had the data directory has ended. Its tasks go on in another one.',
  data: { reason: 'process_gone' },
}

export function createRelay({ input, output }: Streams, refused: () => void): Relay {
  /** How many processes have served the editor before this one. */
  let generation = 0
  let toProcess: PassThrough | undefined
  let isHeld = false
  let hasLeft = false
  let held: string[] = []
  let initialize: Message | undefined
  const pending = new Map<unknown, Message>()
  const sessions = new Map<string, Params>()
  const calls = new Map<unknown, () => void>()
  let ownCalls = 0

  function fromEditor(line: string): void {
    if (isHeld) {
      held.push(line)
      return
    }
    const message = parsed(line)
    if (message === undefined || message.method !== undefined) {
      if (message?.id !== undefined) pending.set(message.id, message)
      if (message?.method === 'initialize') initialize = message
      toProcess?.write(`${line}\n`)
      return
    }
    const answered = idOfAnswer(message.id, generation)
    if (answered !== undefined) toProcess?.write(text({ ...message, id: answered }))
  }

  function fromProcess(line: string): void {
    const message = parsed(line)
    if (message === undefined) output.write(`${line}\n`)
    else if (message.method !== undefined) output.write(text(asked(message, generation)))
    else if (typeof message.id === 'string' && message.id.startsWith(OWN)) {
      calls.get(message.id)?.()
      calls.delete(message.id)
    } else {
      const request = pending.get(message.id)
      pending.delete(message.id)
      if (request !== undefined && message.error === undefined) learn(request, message)
      output.write(`${line}\n`)
    }
  }

  function learn({ method, params }: Message, { result }: Message): void {
    const sessionId = params?.sessionId
    if (method === 'session/new' || method === 'session/fork') {
      const session = created.safeParse(result)
      if (session.success) sessions.set(session.data.sessionId, params)
    } else if (sessionId === undefined) return
    else if (method === 'session/load' || method === 'session/resume') {
      sessions.set(sessionId, params)
    } else if (method === 'session/close') sessions.delete(sessionId)
  }

  function call(method: string, params: Params): Promise<void> {
    const own = `${OWN}${++ownCalls}`
    return new Promise((resolve) => {
      calls.set(own, resolve)
      toProcess?.write(text({ jsonrpc: '2.0', id: own, method, params }))
    })
  }

  function leave(): void {
    hasLeft = true
    if (!isHeld) toProcess?.end()
  }

  return {
    upstream() {
      const [process, answers] = [new PassThrough(), new PassThrough()]
      toProcess = process
      createInterface({ input: answers, crlfDelay: Number.POSITIVE_INFINITY }).on(
        'line',
        fromProcess,
      )
      return { input: process, output: answers }
    },
    start() {
      const bounded = withoutLongLines(input, output, refused)
      const lines = createInterface({ input: bounded, crlfDelay: Number.POSITIVE_INFINITY })
      lines.on('line', (line) => {
        if (line.trim() === '') return
        fromEditor(line)
        if (toProcess?.writableNeedDrain !== true) return
        bounded.pause()
        toProcess.once('drain', () => bounded.resume())
      })
      lines.on('close', leave)
    },
    interrupt() {
      generation++
      isHeld = true
      for (const request of pending.values()) {
        if (request !== initialize) {
          output.write(text({ jsonrpc: '2.0', id: request.id, error: GONE }))
        }
      }
      const unanswered = initialize !== undefined && pending.has(initialize.id)
      pending.clear()
      if (!unanswered || initialize === undefined) return
      held.unshift(text(initialize).trim())
      initialize = undefined
    },
    async restore() {
      if (initialize !== undefined) await call('initialize', initialize.params)
      for (const [sessionId, params] of sessions) {
        await call('session/resume', {
          sessionId,
          cwd: params?.['cwd'],
          mcpServers: params?.['mcpServers'] ?? [],
        })
      }
      isHeld = false
      const waiting = held
      held = []
      for (const line of waiting) fromEditor(line)
      if (hasLeft) toProcess?.end()
    },
  }
}

function parsed(line: string): Message | undefined {
  try {
    return messageShape.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

function text(message: object): string {
  return `${JSON.stringify(message)}\n`
}

/** A question of a later process gets an id that no question of another process has (K3). */
function asked(message: Message, generation: number): Message {
  if (generation === 0) return message
  const mark = (given: unknown): string => `${generation}:${JSON.stringify(given)}`
  const withId = message.id === undefined ? message : { ...message, id: mark(message.id) }
  if (message.method !== '$/cancel_request') return withId
  return {
    ...withId,
    params: { ...message.params, requestId: mark(message.params?.['requestId']) },
  }
}

/** The id under which the process asked. Undefined for a question of a process that is gone. */
function idOfAnswer(given: Message['id'], generation: number): Message['id'] {
  if (generation === 0) return given
  const prefix = `${generation}:`
  if (typeof given !== 'string' || !given.startsWith(prefix)) return undefined
  return id.parse(JSON.parse(given.slice(prefix.length)))
}
