/** `lull doctor`: checks for common problems and prints a remedy for each. */
import { createOps } from '../../client/ops-client.ts'
import { plain } from '../../core/printable.ts'
import { type Colour, type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'
import { dataDirectory } from './doctor-data.ts'
import { postgres } from './doctor-postgres.ts'

type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
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
    if (input.words.length > 0) throw new UsageError('doctor takes flags only')
    const database = await postgres(input)
    const findings = [
      nodeVersion(),
      ...(await dataDirectory(input)),
      ...(database === undefined ? [] : [database]),
      ...(await server(input)),
    ]
    if (input.has('json')) io.print(JSON.stringify({ findings }))
    else {
      for (const { about, verdict, text } of findings) {
        io.print(
          `${io.paint(colours[verdict], verdict.padEnd(4))}  ${about.padEnd(8)}  ${plain(text)}`,
        )
      }
    }
    const failed = findings.some(({ verdict }) => verdict === 'fail')
    return failed ? exitCodes.refused : exitCodes.ok
  },
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > 20 || (major === 20 && minor >= 19)
  const text = `Node ${process.versions.node}${fits ? '' : ': Lull needs 20.19 or newer'}`
  return { about: 'node', verdict: fits ? 'ok' : 'fail', text }
}

async function server(input: Input): Promise<readonly Finding[]> {
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
    await readiness(url),
    clock(answer.response, answer.tookMs),
    await stream(url),
  ]
}

async function readiness(url: string): Promise<Finding> {
  const answer = await ask(`${url}/readyz`)
  if (answer?.response.status === 200) {
    return { about: 'ready', verdict: 'ok', text: 'the store can be written, work is accepted' }
  }
  const body = (await answer?.response.text().catch(() => '')) ?? ''
  return { about: 'ready', verdict: 'fail', text: `not ready: ${body || 'no answer'}` }
}

function clock({ headers }: Response, tookMs: number): Finding {
  const theirs = Date.parse(headers.get('date') ?? '')
  // The Date header has whole seconds.
  const skew = Math.max(0, Math.abs(Date.now() - theirs) - 1_000 - tookMs)
  if (Number.isNaN(skew))
    return { about: 'clock', verdict: 'warn', text: 'the server tells no time' }
  const text = `the clocks differ by ${Math.round(skew / 1_000)} s: set them by NTP`
  return skew > SKEW_MS
    ? { about: 'clock', verdict: 'warn', text }
    : { about: 'clock', verdict: 'ok', text: 'the clocks agree' }
}

/** A proxy that buffers answers breaks streams. */
async function stream(url: string): Promise<Finding> {
  const about = 'streams'
  const over = AbortSignal.timeout(ANSWER_MS)
  try {
    for await (const _ of createOps(opsOptions(url)).changes(over)) {
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
