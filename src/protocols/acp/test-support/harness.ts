/** The adapter in front of a real engine with the script agent, and editors that connect to it. For tests only. */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Caller } from '../../../engine/caller.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Store } from '../../../ports/store.ts'
import type { ManualClock } from '../../../testing/manual-clock.ts'
import { anyone, startTestEngine, type TestEngineOptions } from '../../test-support/test-engine.ts'
import { type Acp, type AcpConfig, createAcp } from '../index.ts'
import { createEditor, type Editor, type Loose } from './editor.ts'

export { anyone }

export interface HarnessOptions extends TestEngineOptions {
  readonly config?: Partial<AcpConfig>
}

export interface Harness {
  readonly engine: Engine
  readonly acp: Acp
  readonly store: Store
  readonly clock: ManualClock
  readonly log: readonly string[]
  /** The steps and tools of the script agent that really ran, as `begin|end|abort <name>`. */
  ran(): readonly string[]
  /**
   * Resolves when the script agent's step has begun, so that its timer is set: a record is shown before the operation
   * behind it begins.
   */
  began(step: string): Promise<void>
  /** Moves the clock on until the promise settles, however late the timers are set that it depends on. */
  advanceUntil<T>(promise: Promise<T>): Promise<T>
  /** A pair of streams; nothing said yet. */
  wire(caller?: Caller): Stream
  /** Connected, nothing said yet. */
  connect(caller?: Caller): Editor
  /** Connected and initialized, as a client that knows of Lull. */
  editor(clientCapabilities?: Loose, caller?: Caller): Promise<Editor>
  /** The process ends in order and another one goes on with the same store. */
  restart(): Promise<Harness>
}

export async function openHarness(given: HarnessOptions = {}): Promise<Harness> {
  const logged: string[] = []
  const effects: string[] = []
  const { engine, store, clock, ids, log } = await startTestEngine(
    given,
    (_, text, facts) => void logged.push(`${text} ${JSON.stringify(facts)}`),
    (line) => void effects.push(line),
  )
  const acp = createAcp({
    engine,
    store,
    clock,
    ids,
    log,
    agentInfo: { name: 'test-agent', version: '1' },
    cwd: '/home',
    ...(given.config === undefined ? {} : { config: given.config }),
  })

  function wire(caller: Caller = anyone): Stream {
    const there = new TransformStream<AnyMessage>()
    const back = new TransformStream<AnyMessage>()
    acp.connect({ readable: there.readable, writable: back.writable }, { caller })
    return { readable: back.readable, writable: there.writable }
  }

  const connect = (caller?: Caller): Editor => createEditor(wire(caller))

  const began = (step: string): Promise<void> =>
    until(() => effects.some((line) => line.startsWith('begin ') && line.split(' ')[2] === step))

  return {
    engine,
    acp,
    store,
    clock,
    log: logged,
    ran: () =>
      effects.map((line) =>
        line
          .split(' ')
          .filter((_, at) => at === 0 || at === 2)
          .join(' '),
      ),
    began,
    advanceUntil: (promise) => advanceUntil(clock, promise),
    wire,
    connect,
    async editor(given = {}, caller = anyone) {
      const editor = connect(caller)
      const clientCapabilities = { _meta: { lull: {} }, ...given }
      await editor.request('initialize', { protocolVersion: 1, clientCapabilities })
      return editor
    },
    async restart() {
      await acp.close()
      await engine.drain({ timeoutMs: 0 })
      return openHarness({ ...given, store, clock })
    },
  }
}

async function advanceUntil<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = (): void => {
    settled = true
  }
  promise.then(settle, settle)
  await until(() => {
    clock.advance(100)
    return settled
  })
  return promise
}

/** Looks again until the fact is there; the test's own time limit ends it. */
async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await new Promise((resolve) => setTimeout(resolve, 1))
}

export async function newSession(editor: Editor, some: Loose = {}): Promise<string> {
  const { sessionId } = await editor.request('session/new', {
    cwd: '/work',
    mcpServers: [],
    ...some,
  })
  return sessionId
}

/** A prompt for the script agent: its ops, or plain words. */
export function prompt(sessionId: string, ops: readonly unknown[] | string, some?: Loose): Loose {
  const text = typeof ops === 'string' ? ops : JSON.stringify({ script: ops })
  return { sessionId, prompt: [{ type: 'text', text }], ...some }
}
