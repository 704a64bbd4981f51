/**
 * The steps of a case. Every wait is for a fact (an answer, a frame, a delivery) and has a deadline. No step sleeps in the
 * hope that something happens meanwhile.
 */
import { randomUUID } from 'node:crypto'
import type {
  CallStep,
  CheckContext,
  DeliveredStep,
  HttpStep,
  Lane,
  OpenStep,
  Outcome,
  Profile,
  ReadStep,
  ReceiverStep,
  Step,
  Version,
} from '../model.ts'
import { at, fill, isObject, type Obj, parseJson, show } from '../values.ts'
import { Failed, judge, outcomeOf, Skipped } from './outcome.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStream, type SseStream } from './sse.ts'
import type { Endpoint, Target } from './target.ts'

/** Long enough for an agent that works 4 s before it completes, as the official kit's resubscribe scenario does. */
export const STEP_DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 20

/** One run of a case: what earlier steps made, by name. */
export interface Run {
  readonly target: Target
  readonly lane: Lane
  readonly context: CheckContext
  readonly vars: Record<string, unknown>
  readonly streams: Map<string, SseStream>
  readonly receivers: Map<string, Receiver>
}

export function openRun(target: Target, lane: Lane, profile: Profile): Run {
  const [version, binding] = lane.split('/') as [Version, CheckContext['binding']]
  const vars: Record<string, unknown> = {
    lane: { name: lane, uuid: randomUUID() },
    target: { base: target.base },
  }
  const context: CheckContext = {
    version,
    binding,
    profile,
    stopped: target.endpoints.get(lane)?.dialect.stopped ?? 'core',
    vars,
    card: target.cards[version],
    base: target.base,
  }
  return { target, lane, context, vars, streams: new Map(), receivers: new Map() }
}

export async function closeRun({ streams, receivers }: Run): Promise<void> {
  for (const stream of streams.values()) stream.cancel()
  for (const receiver of receivers.values()) await receiver[Symbol.asyncDispose]()
}

export async function performStep(run: Run, step: Step): Promise<void> {
  if ('do' in step) return call(run, step)
  if ('http' in step) return http(run, step)
  if ('open' in step) return open(run, step)
  if ('read' in step) return read(run, step)
  if ('close' in step) return run.streams.get(step.close)?.cancel()
  if ('receiver' in step) return receive(run, step)
  if ('delivered' in step) return delivered(run, step)
  const problem = await step.ask(run.context)
  if (problem !== undefined) throw new Failed(`${step.probe}: ${problem}`)
}

async function call(run: Run, step: CallStep): Promise<void> {
  const deadline = performance.now() + STEP_DEADLINE_MS
  for (;;) {
    const { stream, request, from } = await begin(run, step, step.do)
    await stream.until(() => stream.closed(), STEP_DEADLINE_MS)
    const got = outcomeOf(stream, request, step.do, from)
    stream.cancel()
    if (step.as !== undefined) run.vars[step.as] = got
    const waiting = step.until?.test(got, run.context)
    if (waiting === undefined) return judge(step, got, run.context)
    if (performance.now() > deadline) throw new Failed(`never came: ${waiting}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

async function begin(
  { target, context, vars }: Run,
  step: CallStep | OpenStep,
  operation: CallStep['do'],
): Promise<{ readonly stream: SseStream; readonly request: unknown; readonly from: Endpoint }> {
  const via: Lane = `${step.version ?? context.version}/${step.via ?? context.binding}`
  const from = target.endpoints.get(via)
  if (!from) throw new Skipped(`the card offers no ${via}`)
  const request = fill(step.with ?? {}, vars) as Obj
  const wire = from.dialect.request(operation, request, from.url)
  const headers = fill({ ...wire.headers, ...step.headers }, vars) as Record<string, string>
  const response = await ask(wire.url, wire.method, headers, wire.body)
  return { stream: await openStream(response, from.dialect), request, from }
}

async function http({ target, lane, vars, context }: Run, step: HttpStep): Promise<void> {
  const { method, path = '', headers = {}, body, origin } = step.http
  const endpoint = target.endpoints.get(lane)
  const root = origin ? target.base : (endpoint?.url ?? target.base)
  const filled = fill(body, vars)
  const text = typeof filled === 'string' || filled === undefined ? filled : JSON.stringify(filled)
  const url = `${root.replace(/\/$/, '')}${String(fill(path, vars))}`
  const response = await ask(url, method, fill(headers, vars) as Record<string, string>, text)
  const received = await response.text()
  const parsed = parseJson(received)
  const got: Outcome = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: received,
    body: parsed,
    request: filled,
    ...(isObject(parsed) ? endpoint?.dialect.read('extendedCard', response.status, parsed) : {}),
  }
  if (step.as !== undefined) vars[step.as] = got
  judge(step, got, context)
}

async function open(run: Run, step: OpenStep): Promise<void> {
  const { stream, request } = await begin(run, step, step.open)
  if (stream.status >= 400) throw new Failed(`stream refused: ${stream.status} ${stream.text()}`)
  run.streams.set(step.as, stream)
  run.vars[step.as] = { request }
}

async function read({ streams, vars, context }: Run, step: ReadStep): Promise<void> {
  const stream = streams.get(step.read)
  if (!stream) throw new Failed(`no stream ${step.read}`)
  const now = (): Outcome => outcomeOf(stream, at(vars, `${step.read}.request`), 'stream')
  const { until } = step
  const holds = until === 'closed' ? stream.closed : () => until.test(now(), context) === undefined
  if (!(await stream.until(holds, STEP_DEADLINE_MS))) {
    const what = until === 'closed' ? 'the stream did not close' : `never came: ${until.says}`
    throw new Failed(`${what}; frames ${show(stream.frames.map((frame) => frame.event))}`)
  }
  if (step.as !== undefined) vars[step.as] = now()
  judge(step, now(), context)
}

async function receive({ receivers, vars }: Run, step: ReceiverStep): Promise<void> {
  const receiver = await openReceiver()
  receivers.set(step.receiver, receiver)
  vars[step.receiver] = { url: receiver.url }
}

async function delivered({ receivers, context }: Run, step: DeliveredStep): Promise<void> {
  const receiver = receivers.get(step.delivered)
  if (!receiver) throw new Failed(`no receiver ${step.delivered}`)
  const { until } = step
  const found = (): Outcome | undefined =>
    receiver.deliveries
      .map(
        ({ headers, body, text }): Outcome => ({ status: 0, headers, body, text, request: null }),
      )
      .find((got) => until === undefined || until.test(got, context) === undefined)
  if (!(await receiver.until(() => found() !== undefined, STEP_DEADLINE_MS))) {
    throw new Failed(`no such delivery came; got ${show(receiver.deliveries)}`)
  }
  const got = found()
  if (got) judge(step, got, context)
}

function ask(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Promise<Response> {
  return fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(3 * STEP_DEADLINE_MS),
  })
}
