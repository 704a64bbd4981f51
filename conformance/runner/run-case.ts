/**
 * Runs one case on one lane. Every wait is for a fact (an answer, a frame, a delivery) and has a deadline; nothing sleeps
 * in the hope that something happened meanwhile.
 */
import { randomUUID } from 'node:crypto'
import type {
  CallStep,
  Case,
  Check,
  CheckContext,
  HttpStep,
  Lane,
  OpenStep,
  Outcome,
  Profile,
  Result,
  Step,
  Version,
} from '../model.ts'
import { at, fill, isObject, type Obj, parseJson, show } from '../values.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStream, type SseStream } from './sse.ts'
import { type Endpoint, NEEDS, type Target } from './target.ts'

/** Long enough for an agent that works 4 s before it completes, as the official kit's resubscribe scenario does. */
export const STEP_DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 20

class Failed extends Error {}
class Skipped extends Error {}

export async function runCase(
  target: Target,
  item: Case,
  lane: Lane,
  profile: Profile,
): Promise<Result> {
  const startedAt = performance.now()
  const done = (status: Result['status'], reason = ''): Result => ({
    key: item.variant === undefined ? item.id : `${item.id}#${item.variant}`,
    case: item,
    lane,
    status,
    reason,
    ms: performance.now() - startedAt,
  })
  const whyNot = inapplicable(target, item, lane)
  if (whyNot !== undefined) return done('skip', whyNot)
  const run = createRun(target, lane, profile)
  try {
    for (const step of item.steps) await run.step(step)
    return done('pass')
  } catch (error) {
    if (error instanceof Skipped) return done('skip', error.message)
    const problem = error instanceof Error ? error.message : String(error)
    // What a server may do it may also leave.
    return item.level === 'MAY' ? done('skip', `not offered: ${problem}`) : done('fail', problem)
  } finally {
    await run.dispose()
  }
}

function inapplicable(target: Target, item: Case, lane: Lane): string | undefined {
  if (item.excluded !== undefined) return item.excluded
  const version = lane.split('/')[0] as Version
  if (!lane.endsWith('/card') && !target.endpoints.has(lane)) return `the card offers no ${lane}`
  const card = target.cards[version] ?? target.cards['1.0']
  for (const need of item.needs ?? []) {
    if (!NEEDS[need].met(target, card)) return NEEDS[need].says
  }
  return undefined
}

function createRun(target: Target, lane: Lane, profile: Profile) {
  const [laneVersion, laneBinding] = lane.split('/') as [Version, CheckContext['binding']]
  const vars: Record<string, unknown> = {
    lane: { name: lane, uuid: randomUUID() },
    target: { base: target.base },
  }
  const streams = new Map<string, SseStream>()
  const receivers = new Map<string, Receiver>()
  const context: CheckContext = {
    version: laneVersion,
    binding: laneBinding,
    profile,
    stopped: target.endpoints.get(lane)?.dialect.stopped ?? 'core',
    vars,
    card: target.cards[laneVersion],
    base: target.base,
  }

  function endpointOf(step: CallStep | OpenStep): Endpoint {
    const via: Lane = `${step.version ?? laneVersion}/${step.via ?? laneBinding}`
    const endpoint = target.endpoints.get(via)
    if (!endpoint) throw new Skipped(`the card offers no ${via}`)
    return endpoint
  }

  async function begin(
    step: CallStep | OpenStep,
    operation: CallStep['do'],
  ): Promise<{ readonly stream: SseStream; readonly request: unknown; readonly from: Endpoint }> {
    const from = endpointOf(step)
    const request = fill(step.with ?? {}, vars) as Obj
    const wire = from.dialect.request(operation, request, from.url)
    const headers = fill({ ...wire.headers, ...step.headers }, vars) as Record<string, string>
    const response = await ask(wire.url, wire.method, headers, wire.body)
    return { stream: await openStream(response, from.dialect), request, from }
  }

  function judge(step: { assume?: readonly Check[]; expect?: readonly Check[] }, got: Outcome) {
    for (const check of step.assume ?? []) {
      const problem = check.test(got, context)
      if (problem === undefined) continue
      // A refused request is no other behaviour of the agent: it is a failure.
      if (got.error !== undefined || got.status >= 400) throw new Failed(`refused: ${problem}`)
      throw new Skipped(`could not be shown: ${problem}`)
    }
    for (const check of step.expect ?? []) {
      const problem = check.test(got, context)
      if (problem !== undefined) {
        throw new Failed(`${check.says}: ${problem}\n    answer ${got.status} ${show(brief(got))}`)
      }
    }
  }

  async function call(step: CallStep): Promise<void> {
    const deadline = performance.now() + STEP_DEADLINE_MS
    for (;;) {
      const { stream, request, from } = await begin(step, step.do)
      await stream.until(() => stream.closed(), STEP_DEADLINE_MS)
      const got = outcomeOf(stream, request, step.do, from)
      stream.cancel()
      if (step.as !== undefined) vars[step.as] = got
      const waiting = step.until?.test(got, context)
      if (waiting === undefined) return judge(step, got)
      if (performance.now() > deadline) throw new Failed(`never came: ${waiting}`)
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    }
  }

  async function http(step: HttpStep): Promise<void> {
    const { method, path = '', headers = {}, body, origin } = step.http
    const root = origin ? target.base : (target.endpoints.get(lane)?.url ?? target.base)
    const filled = fill(body, vars)
    const text =
      typeof filled === 'string' || filled === undefined ? filled : JSON.stringify(filled)
    const url = `${root.replace(/\/$/, '')}${String(fill(path, vars))}`
    const response = await ask(url, method, fill(headers, vars) as Record<string, string>, text)
    const received = await response.text()
    const parsed = parseJson(received)
    const dialect = target.endpoints.get(lane)?.dialect
    const got: Outcome = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: received,
      body: parsed,
      request: filled,
      ...(isObject(parsed) ? dialect?.read('extendedCard', response.status, parsed) : {}),
    }
    if (step.as !== undefined) vars[step.as] = got
    judge(step, got)
  }

  async function step(step: Step): Promise<void> {
    if ('do' in step) return call(step)
    if ('http' in step) return http(step)
    if ('open' in step) {
      const { stream, request } = await begin(step, step.open)
      if (stream.status >= 400)
        throw new Failed(`stream refused: ${stream.status} ${stream.text()}`)
      streams.set(step.as, stream)
      vars[step.as] = { request }
      return
    }
    if ('read' in step) {
      const stream = streams.get(step.read)
      if (!stream) throw new Failed(`no stream ${step.read}`)
      const now = (): Outcome => outcomeOf(stream, at(vars, `${step.read}.request`), 'stream')
      const { until } = step
      const holds =
        until === 'closed' ? stream.closed : () => until.test(now(), context) === undefined
      if (!(await stream.until(holds, STEP_DEADLINE_MS))) {
        const what = until === 'closed' ? 'the stream did not close' : `never came: ${until.says}`
        throw new Failed(`${what}; frames ${show(stream.frames.map((frame) => frame.event))}`)
      }
      if (step.as !== undefined) vars[step.as] = now()
      return judge(step, now())
    }
    if ('close' in step) return streams.get(step.close)?.cancel()
    if ('receiver' in step) {
      const receiver = await openReceiver()
      receivers.set(step.receiver, receiver)
      vars[step.receiver] = { url: receiver.url }
      return
    }
    if ('delivered' in step) {
      const receiver = receivers.get(step.delivered)
      if (!receiver) throw new Failed(`no receiver ${step.delivered}`)
      const { until } = step
      const found = (): Outcome | undefined =>
        receiver.deliveries
          .map(
            ({ headers, body, text }): Outcome => ({
              status: 0,
              headers,
              body,
              text,
              request: null,
            }),
          )
          .find((got) => until === undefined || until.test(got, context) === undefined)
      if (!(await receiver.until(() => found() !== undefined, STEP_DEADLINE_MS))) {
        throw new Failed(`no such delivery came; got ${show(receiver.deliveries)}`)
      }
      const got = found()
      if (got) judge(step, got)
      return
    }
    const problem = await step.ask(context)
    if (problem !== undefined) throw new Failed(`${step.probe}: ${problem}`)
  }

  async function dispose(): Promise<void> {
    for (const stream of streams.values()) stream.cancel()
    for (const receiver of receivers.values()) await receiver[Symbol.asyncDispose]()
  }
  return { step, dispose }
}

function outcomeOf(
  stream: SseStream,
  request: unknown,
  operation: CallStep['do'],
  from?: Endpoint,
): Outcome {
  const text = stream.text()
  const body = parseJson(text)
  const error = stream.error()
  const streamed = stream.headers['content-type']?.startsWith('text/event-stream') === true
  return {
    status: stream.status,
    headers: stream.headers,
    text,
    body,
    request,
    closed: stream.closed(),
    frames: stream.frames,
    ...(streamed ? {} : from?.dialect.read(operation, stream.status, body)),
    ...(error === undefined ? {} : { error }),
  }
}

function brief(got: Outcome): unknown {
  return got.frames?.length ? got.frames.map((frame) => frame.data) : (got.body ?? got.text)
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
