/**
 * Everything a server sends and takes, recorded by the `fetch` of a client and validated by the schemas of
 * `spec/protocol-artifacts`.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

// biome-ignore lint/suspicious/noExplicitAny: whatever goes over the wire
export type Loose = any

const artifacts = new URL('../../../spec/protocol-artifacts/', import.meta.url)
const read = (file: string): Loose => JSON.parse(readFileSync(new URL(file, artifacts), 'utf8'))
export const { a2a: extensions }: { a2a: readonly Loose[] } = read('manifest.json')

const ajv = new Ajv2020({ validateFormats: false, allowUnionTypes: true })
for (const { schema } of extensions) ajv.addSchema(read(schema))
ajv.addSchema(read('events/cloud-events.schema.json'))

/** Shapes that have judged something. */
export const used = new Set<string>()

export function judge(extension: string, shape: string, value: unknown, protocol = 'a2a'): void {
  const validate = ajv.getSchema(`urn:lull:schema:${protocol}:${extension}#/$defs/${shape}`)
  if (validate === undefined) throw new Error(`no schema for ${extension} ${shape}`)
  const problem = validate(value) ? undefined : { shape, value, errors: validate.errors }
  expect(problem).toBeUndefined()
  used.add(shape)
}

const byUri = new Map(extensions.flatMap((one) => (one.uri === undefined ? [] : [[one.uri, one]])))

/** The metadata of everything in an answer: of tasks and updates, of messages within. */
function judgeMetadata(value: Loose): void {
  if (typeof value !== 'object' || value === null) return
  const { metadata } = value
  const isMessage = value.role !== undefined
  for (const [uri, facts] of Object.entries(metadata ?? {})) {
    const one = byUri.get(uri)
    if (one?.metadata === undefined) continue
    judge(one.name, isMessage ? 'ConsentAnswer' : one.metadata, facts)
  }
  if (!isMessage && metadata?.harn?.pause) judge('harn-tunnel', 'HarnPause', metadata.harn.pause)
  if (!isMessage && metadata?.harn?.reminder) {
    judge('harn-tunnel', 'HarnReminder', metadata.harn.reminder)
  }
  for (const inner of Object.values(value)) judgeMetadata(inner)
}

function judgeError(version: string, error: Loose): void {
  if (version === '1.0') {
    // Of REST the list is what both bindings share.
    judge('errors', 'ErrorDetails', error.data ?? error.details)
    if (error.data !== undefined) judge('errors', 'RpcErrorV1', error)
  } else {
    judge('errors', 'ErrorData', error.data)
    // REST adds a name and the error as 1.0 has it.
    const { type: _type, error: _error, ...rest } = error
    judge('errors', 'RpcErrorV03', rest)
  }
}

export interface Exchange {
  readonly version: string
  readonly url: URL
  readonly request: Loose
  readonly ok: boolean
  readonly type: string
  readonly text: Promise<string>
}

/** Which method was called, and with what. */
function calledIn({ url, request }: Exchange): readonly [shapes: Loose, params: Loose] | undefined {
  const methods = extensions.flatMap(({ methods = [], name }) =>
    methods.map((one: Loose) => ({ ...one, extension: name })),
  )
  if (request?.method !== undefined) {
    const found = methods.find(({ method }) => method === request.method)
    return found && [found, request.params]
  }
  const [, taskId, action] = /\/tasks\/([^/:]+):(\w+)$/.exec(url.pathname) ?? []
  const found = methods.find(({ rest }) => rest.endsWith(`:${action}`))
  return found && [found, { ...request, taskId }]
}

export async function judgeExchange(exchange: Exchange): Promise<void> {
  const { version, ok, type } = exchange
  const text = await exchange.text
  if (type.startsWith('text/event-stream')) {
    for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
      const frame = JSON.parse(data)
      if (frame.method !== undefined) judge('rfc-notifications', 'RfcNotification', frame)
      else if (frame.error !== undefined) judgeError(version, frame.error)
      else judgeMetadata(frame)
    }
    return
  }
  const body = JSON.parse(text)
  if (exchange.url.pathname.endsWith('agent-card.json')) return judgeCard(body)
  const error = ok || body.code === undefined ? body.error : body
  const called = calledIn(exchange)
  if (error !== undefined) return judgeError(version, error)
  judgeMetadata(body)
  if (called === undefined) return
  const [{ extension, request, result }, params] = called
  judge(extension, request, params)
  judge(extension, result, exchange.request?.method === undefined ? body : body.result)
}

function judgeCard({ capabilities }: Loose): void {
  for (const { uri, params } of capabilities.extensions) {
    const one = byUri.get(uri)
    expect(one, uri).toBeDefined()
    if (one.card !== undefined) judge(one.name, one.card, params)
  }
  if (capabilities.supportsPause) judge('task-control', 'PauseCapabilities', capabilities)
  if (capabilities.reminders) judge('reminders', 'RemindersParams', capabilities.reminders)
}

/** A `fetch` that keeps what goes through it. */
export function recording(version: string) {
  const exchanges: Exchange[] = []
  const recorded = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    exchanges.push({
      version,
      url: new URL(url),
      request: init.body === undefined ? {} : JSON.parse(String(init.body)),
      ok: response.ok,
      type: response.headers.get('content-type') ?? '',
      text: response.clone().text(),
    })
    return response
  }
  return { exchanges, fetch: recorded }
}
