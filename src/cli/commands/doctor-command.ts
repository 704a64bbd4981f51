/** `lull doctor`: checks for common problems and prints a remedy for each. */

import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isLullError } from '../../core/errors.ts'
import { describeError } from '../../core/values/describe-error.ts'
import { plain } from '../../core/values/printable.ts'
import { readSettings } from '../../server/settings/settings.ts'
import type { DirectoryState, Inspection } from '../../server/store/inspect-store.ts'
import { chooseStore } from '../../server/store/open-store.ts'
import { type Colour, type Command, exitCodes, type Input, printResult } from '../command.ts'
import { expectNoWords } from '../input/read-input.ts'
import { opsFor, serverUrl, urlFlag } from '../input/server-access.ts'

type Verdict = 'ok' | 'warn' | 'fail'

interface Finding {
  readonly about: string
  readonly verdict: Verdict
  readonly text: string
}

const colours: Readonly<Record<Verdict, Colour>> = { ok: 'green', warn: 'yellow', fail: 'red' }
const ANSWER_MS = 3_000
const SKEW_MS = 2_000

export const doctor: Command = {
  name: 'doctor',
  about:
    'Check Node, the data directory, the database and the server, and say what to do about problems',
  flags: {
    ...urlFlag,
    data: { value: 'directory', about: 'Where tasks are kept (LULL_DATA, default ./.lull)' },
    'accept-loss': {
      about: 'Let Lull start with a lull.db that was copied without its write-ahead log',
    },
    postgres: { value: 'url', about: 'PostgreSQL that keeps tasks (LULL_POSTGRES)' },
  },
  examples: ['doctor', 'doctor --data ./.lull', 'doctor --url https://agents.example.com'],
  async run(input, io) {
    expectNoWords(input, 'doctor takes flags only')
    const database = await checkDatabase(input)
    const findings = [
      checkNodeVersion(),
      ...(await checkDataDirectory(input)),
      ...(database === undefined ? [] : [database]),
      ...(await checkServer(input)),
    ]
    const lines = findings.map(
      ({ about, verdict, text }) =>
        `${io.paint(colours[verdict], verdict.padEnd(4))}  ${about.padEnd(8)}  ${plain(text)}`,
    )
    printResult(input, io, { findings }, lines)
    const failed = findings.some(({ verdict }) => verdict === 'fail')
    return failed ? exitCodes.refused : exitCodes.ok
  },
}

function checkNodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > 20 || (major === 20 && minor >= 19)
  const text = `Node ${process.versions.node}${fits ? '' : ': Lull needs 20.19 or newer'}`
  return { about: 'node', verdict: fits ? 'ok' : 'fail', text }
}

async function checkServer(input: Input): Promise<readonly Finding[]> {
  const url = serverUrl(input)
  const about = 'server'
  const answer = await ask(`${url}/healthz`)
  if (answer === undefined) {
    const text = `${url} cannot be reached: start it (npm start, lull serve), or name another (--url)`
    return [{ about, verdict: 'fail', text }]
  }
  if (answer.response.status !== 200) {
    const text = `${url} answers HTTP ${answer.response.status} to /healthz: look at its log, restart it`
    return [{ about, verdict: 'fail', text }]
  }
  return [
    { about, verdict: 'ok', text: `${url} is up` },
    await checkReadiness(url),
    compareClocks(answer.response, answer.tookMs),
    await checkStream(url),
  ]
}

async function checkReadiness(url: string): Promise<Finding> {
  const answer = await ask(`${url}/readyz`)
  if (answer?.response.status === 200) {
    return { about: 'ready', verdict: 'ok', text: 'the store can be written, work is accepted' }
  }
  const body = (await answer?.response.text().catch(() => '')) ?? ''
  return { about: 'ready', verdict: 'fail', text: `not ready: ${body || 'no answer'}` }
}

function compareClocks({ headers }: Response, tookMs: number): Finding {
  const theirs = Date.parse(headers.get('date') ?? '')
  // The Date header is rounded down to whole seconds.
  const skew = Math.max(0, Math.abs(Date.now() - theirs) - 1_000 - tookMs)
  if (Number.isNaN(skew))
    return { about: 'clock', verdict: 'warn', text: 'the server tells no time' }
  const text = `the clocks differ by ${Math.round(skew / 1_000)} s: set them by NTP`
  return skew > SKEW_MS
    ? { about: 'clock', verdict: 'warn', text }
    : { about: 'clock', verdict: 'ok', text: 'the clocks agree' }
}

/** Opens a stream and waits for its first event: a proxy that buffers answers breaks streams. */
async function checkStream(url: string): Promise<Finding> {
  const about = 'streams'
  const over = AbortSignal.timeout(ANSWER_MS)
  try {
    for await (const _ of opsFor(url).changes(over)) {
      return { about, verdict: 'ok', text: 'server-sent events arrive at once' }
    }
  } catch (error) {
    if (!over.aborted) return { about, verdict: 'warn', text: messageOf(error) }
  }
  const text = 'no event arrives: a proxy in between must not buffer text/event-stream'
  return { about, verdict: 'warn', text }
}

interface Answer {
  readonly response: Response
  readonly tookMs: number
}

async function ask(url: string): Promise<Answer | undefined> {
  const started = Date.now()
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return { response, tookMs: Date.now() - started }
  } catch {
    return undefined
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function checkDataDirectory(input: Input): Promise<readonly Finding[]> {
  const data = resolve(readSettings({ data: input.text('data') }).data)
  const writable = await checkWritable(data)
  if (writable.verdict !== 'ok') return [writable]
  const { acceptLoss, inspectDirectory } = await import('../../server/store/inspect-store.ts')
  const accepted = input.has('accept-loss') ? [await applyAcceptance(data, acceptLoss)] : []
  return [writable, ...accepted, ...describeDatabase(await inspectDirectory(data))]
}

async function checkWritable(data: string): Promise<Finding> {
  for (let path = data; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK)
      return { about: 'data', verdict: 'ok', text: `${data} can be written` }
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (missing && path !== dirname(path)) continue
      const text = `${path} cannot be written: choose another directory (--data, LULL_DATA)`
      return { about: 'data', verdict: 'fail', text }
    }
  }
}

async function applyAcceptance(
  data: string,
  acceptLoss: (data: string) => Promise<boolean>,
): Promise<Finding> {
  try {
    const text = (await acceptLoss(data))
      ? 'Lull now starts with what lull.db has'
      : 'there is no loss to accept'
    return { about: 'data', verdict: 'ok', text }
  } catch (error) {
    if (!isLullError(error)) throw error
    return { about: 'data', verdict: 'fail', text: describeError(error).message }
  }
}

function describeDatabase(state: DirectoryState): readonly Finding[] {
  const { kind } = state
  switch (kind) {
    case 'unused':
      return []
    case 'in-use': {
      const text = `lull.db is in use (${state.owner}): the server says whether it works`
      return [{ about: 'data', verdict: 'ok', text }]
    }
    case 'whole': {
      const text = `lull.db is whole, with ${state.tasks} task${state.tasks === 1 ? '' : 's'}`
      return [{ about: 'data', verdict: 'ok', text }]
    }
    case 'broken':
      return [{ about: 'data', verdict: 'fail', text: state.why }]
    default:
      return kind satisfies never
  }
}

/** A process measures and corrects the difference. A larger one is still worth a warning. */
const DATABASE_SKEW_MS = 10_000
/** The most connections that one process of Lull opens. */
const CONNECTIONS = 10

/** @returns undefined when no database is configured */
async function checkDatabase(input: Input): Promise<Finding | undefined> {
  const { data, stores } = readSettings({ postgres: input.text('postgres') })
  const about = 'postgres'
  try {
    const { postgres: place } = chooseStore(stores, data)
    if (place === undefined) return undefined
    const { inspectPostgres } = await import('../../server/store/inspect-store.ts')
    const found = await inspectPostgres(place)
    const problem = problemOf(found)
    const where = `PostgreSQL ${found.version} at ${found.name}`
    return problem === undefined
      ? { about, verdict: 'ok', text: `${where}, ${schemaTexts[found.schemaState](found.schema)}` }
      : { about, verdict: 'warn', text: `${where}: ${problem}` }
  } catch (error) {
    if (!isLullError(error)) throw error
    return { about, verdict: 'fail', text: describeError(error).message }
  }
}

const schemaTexts: Readonly<Record<Inspection['schemaState'], (schema: string) => string>> = {
  current: (schema) => `schema ${schema} is up to date`,
  old: (schema) => `schema ${schema} is changed when the next process starts`,
  missing: (schema) => `schema ${schema} is made when the first process starts`,
}

function problemOf(found: Inspection): string | undefined {
  const { waitsForDisk, clockAheadMs, connections, maxConnections } = found
  if (!waitsForDisk) {
    return 'a crash of the server can lose tasks; set fsync and synchronous_commit to on'
  }
  if (maxConnections - connections < CONNECTIONS) {
    return `${connections} of ${maxConnections} connections are in use, and a process needs up to ${CONNECTIONS}; raise max_connections`
  }
  if (Math.abs(clockAheadMs) < DATABASE_SKEW_MS) return undefined
  return `its clock differs by ${Math.round(Math.abs(clockAheadMs) / 1_000)} s from the one here: set both by NTP`
}
