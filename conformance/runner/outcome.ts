/** What a step got, and how it is judged. */
import type { CallStep, Check, CheckContext, Outcome } from '../model.ts'
import { parseJson, show } from '../values.ts'
import type { SseStream } from './sse.ts'
import type { Endpoint } from './target.ts'

export class Failed extends Error {}
export class Skipped extends Error {}

/** @throws Failed or Skipped */
export function judge(
  step: { readonly assume?: readonly Check[]; readonly expect?: readonly Check[] },
  got: Outcome,
  context: CheckContext,
): void {
  for (const check of step.assume ?? []) {
    const problem = check.test(got, context)
    if (problem === undefined) continue
    // A refused request is a failure. Only another behaviour of the agent is skipped.
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

export function outcomeOf(
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
