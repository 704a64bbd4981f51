/** Real agent processes for real clients. All traffic is recorded and checked against the schemas at the end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import {
  complaintsIn,
  type Message,
  messagesIn,
  type Recording,
  recorder,
  recordingsIn,
  type Traffic,
} from '../../support/acp-traffic.ts'
import { type Answers, type Any, type Generation, generations, type Peer } from './generations.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const main = join(root, 'dist/cli/main.js')
const agents = join(root, 'test/interop/acp/agents.mjs')

export interface Connected extends Peer {
  readonly child: ChildProcess
  /** Of the agent, not of the recorder. */
  pid(): number
  /** SIGKILL to the agent; resolves when it is gone. */
  kill(): Promise<void>
  /** The client goes away: the agent's stdin ends. */
  hangUp(): Promise<void>
  readonly exited: Promise<number | null>
}

export interface Harness {
  readonly cwd: string
  readonly data: string
  readonly env: Readonly<Record<string, string>>
  /** What a client that starts its agent itself is told to start. */
  readonly command: readonly string[]
  /** The command line of Lull with the agents of these tests. */
  lull(command: string, ...flags: readonly string[]): readonly string[]
  /** Any other agent, with the recorder before it. */
  recorded(command: readonly string[]): readonly string[]
  /** A client of that generation on a process of its own. */
  connect(
    generation: string | Generation,
    answers?: Answers,
    command?: readonly string[],
  ): Connected
  initialize(client: Peer, capabilities?: object): Promise<Any>
  /** A new session in `cwd`. */
  open(client: Peer): Promise<string>
  /** What is recorded elsewhere, to be judged with the rest. */
  record<R extends Traffic>(recording: R): R
  /** Lets every step with that `ms` end, from now on. */
  openGate(ms: number): void
  /** Waits for the step to begin, as often as said. */
  began(step: string, times?: number): Promise<void>
  /** How often a step really ran to its end. */
  ended(step: string): number
  recordings(): readonly Recording[]
  /** SIGKILL to the agent that was started last, whoever started it. */
  killAgent(): Promise<void>
  /** Of all connections, in order. */
  messages(): readonly Message[]
  /** The value the option `run_state` offers for it, as clients were told last. */
  offered(kind: 'running' | 'suspended'): Promise<string>
  /** Clients here may complain of these; nobody else may. */
  tolerate(...words: readonly string[]): void
  /** What clients in this process printed as errors or warnings. */
  readonly printed: readonly string[]
  /** Ends all processes and judges what they said. */
  close(): Promise<void>
}

export function openHarness(flags: readonly string[] = []): Harness {
  const home = mkdtempSync(join(tmpdir(), 'lull-acp-'))
  const [cwd, data, gates, traffic] = ['work', 'data', 'gates', 'traffic'].map((name) => {
    const directory = join(home, name)
    mkdirSync(directory)
    return directory
  }) as [string, string, string, string]
  const effects = join(home, 'effects')
  const env = { LULL_EFFECTS: effects, LULL_GATES: gates, HOME: home }
  const node = process.execPath
  const record = (command: readonly string[]) => [node, recorder, traffic, ...command]
  const lull: Harness['lull'] = (name, ...more) => [
    node,
    main,
    name,
    agents,
    '--data',
    data,
    ...more,
  ]
  const command = record(lull('acp', ...flags))

  const connections = new Set<Connected>()
  const elsewhere: Traffic[] = []
  const printed: string[] = []
  const tolerated = new Set<string>()
  const collect = (...words: unknown[]): void => {
    const line = words.map(show).join(' ')
    if (![...tolerated].some((word) => line.includes(`"${word}"`))) printed.push(line)
  }
  const spies = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')].map((spy) =>
    spy.mockImplementation(collect),
  )
  const recordings = (): readonly Recording[] => recordingsIn(traffic)

  const effectsOf = (kind: string, step: string): number =>
    (existsSync(effects) ? readFileSync(effects, 'utf8') : '')
      .split('\n')
      .filter((line) => line.startsWith(`${kind} `) && line.split(' ')[2] === step).length

  function connect(
    generation: string | Generation,
    answers: Answers = {},
    own?: readonly string[],
  ): Connected {
    const [program = '', ...args] = own === undefined ? command : record(own)
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const { predates, connect: start } =
      typeof generation === 'string' ? generations[generation]! : generation
    for (const word of predates) tolerated.add(word)
    const peer = start(
      { output: Writable.toWeb(child.stdin), input: Readable.toWeb(child.stdout) as never },
      answers,
    )
    const before = recordings().length
    const pid = (): number => recordings()[before]?.pid ?? 0
    const connected: Connected = {
      ...peer,
      child,
      pid,
      exited,
      async kill() {
        process.kill(pid(), 'SIGKILL')
        await exited
      },
      async hangUp() {
        child.stdin.end()
        await exited
      },
    }
    connections.add(connected)
    return connected
  }

  return {
    cwd,
    data,
    env,
    command,
    lull,
    recorded: record,
    connect,
    initialize: (client, clientCapabilities = {}) =>
      client.request('initialize', { protocolVersion: 1, clientCapabilities }),
    async open(client) {
      const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] })
      return sessionId
    },
    record(recording) {
      elsewhere.push(recording)
      return recording
    },
    openGate: (ms) => writeFileSync(join(gates, String(ms)), ''),
    async began(step, times = 1) {
      await expect.poll(() => effectsOf('begin', step)).toBe(times)
    },
    ended: (step) => effectsOf('end', step),
    recordings,
    async killAgent() {
      const last = recordings().length - 1
      process.kill(recordings()[last]!.pid, 'SIGKILL')
      await expect.poll(() => recordings()[last]?.exit).toBe('SIGKILL')
    },
    messages: () => recordings().flatMap(messagesIn),
    async offered(kind) {
      const told = (): Message | undefined =>
        recordings()
          .flatMap(messagesIn)
          .findLast((one) => one.params?.update?.sessionUpdate === 'config_option_update')
      await expect.poll(told).toBeDefined()
      const options = told()?.params.update.configOptions as readonly Any[]
      const { options: values } = options.find(({ id }) => id === 'run_state')
      return values.find(({ value }: Any) => value.startsWith(kind)).value
    },
    tolerate(...words) {
      for (const word of words) tolerated.add(word)
    },
    printed,
    async close() {
      for (const { child, exited } of connections) {
        child.stdin?.end()
        await exited
      }
      for (const spy of spies) spy.mockRestore()
      const complaints = complaintsIn([...recordings(), ...elsewhere])
      rmSync(home, { recursive: true, force: true })
      expect(complaints).toEqual([])
      expect(printed).toEqual([])
    },
  }
}

const show = (word: unknown): string =>
  word instanceof Error ? word.message : typeof word === 'string' ? word : JSON.stringify(word)

export const text = (words: string): readonly Any[] => [{ type: 'text', text: words }]
export const script = (...ops: readonly object[]): readonly Any[] =>
  text(JSON.stringify({ script: ops }))

/** The states of suspension the client was told of. */
const told = ({ updates }: Peer): readonly string[] =>
  updates.flatMap(({ update }) => update._meta?.lull?.suspend?.state ?? [])

/** Until the client knows that its suspend was accepted and waits for the step at hand. */
export async function quiescing(client: Peer): Promise<void> {
  await expect.poll(() => told(client)).toContain('quiescing')
}

/** The texts the agent was heard saying, put together by message. */
export function said({ updates }: Peer): readonly string[] {
  return updates.flatMap(({ update }) =>
    update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
      ? [update.content.text]
      : [],
  )
}

const choose =
  (kind: string) =>
  ({ options }: Any): Any => ({
    outcome: {
      outcome: 'selected',
      optionId: options.find((one: Any) => one.kind === kind).optionId,
    },
  })
export const allow: (params: Any) => Any = choose('allow_once')
export const deny: (params: Any) => Any = choose('reject_once')
