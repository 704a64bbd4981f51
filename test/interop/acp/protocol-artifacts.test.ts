/** An ACP agent of ours speaks as `spec/protocol-artifacts/acp` says: every line is judged, until each shape was needed. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import type { Editor, Loose } from '../../../src/protocols/acp/test-support/editor.ts'
import { newSession, openHarness, prompt } from '../../../src/protocols/acp/test-support/harness.ts'

const artifacts = new URL('../../../spec/protocol-artifacts/', import.meta.url)
const read = (file: string): Loose => JSON.parse(readFileSync(new URL(file, artifacts), 'utf8'))
const { acp: pages }: { acp: readonly Loose[] } = read('manifest.json')
const ajv = new Ajv2020({ validateFormats: false, allowUnionTypes: true })
for (const { schema } of pages) ajv.addSchema(read(schema))

const methods = new Map<string, Loose>(
  pages.flatMap(({ methods }) =>
    methods.flatMap((one: Loose) => one.names.map((name: string) => [name, one])),
  ),
)
const used = new Set<string>()

function judge(shape: string, value: unknown): void {
  const page = pages.find(({ shapes }) => shapes.includes(shape))
  const validate = ajv.getSchema(`urn:lull:schema:acp:${page?.name}#/$defs/${shape}`)
  if (validate === undefined) throw new Error(`no schema for ${shape}`)
  const problem = validate(value) ? undefined : { shape, value, errors: validate.errors }
  expect(problem).toBeUndefined()
  used.add(shape)
}

function judgeMeta(meta: Loose): void {
  const { lull, harn } = meta ?? {}
  if (lull?.tasks !== undefined) judge('SessionMeta', lull)
  else if (lull?.state !== undefined) judge('TaskMeta', lull)
  else if (lull?.taskId !== undefined) judge('AddressMeta', { lull })
  if (lull?.suspend?.state !== undefined) judge('SuspendMeta', lull.suspend)
  if (harn?.suspend !== undefined) judge('WorkerSuspensionMeta', harn.suspend)
}

const updates: Readonly<Record<string, string>> = {
  suspended: 'SessionUpdateSuspended',
  resumed: 'SessionUpdateResumed',
}

function judgeReceived({ method, params, result, error }: Loose): void {
  const shapes = methods.get(method)
  if (shapes !== undefined) judge(shapes.params, params)
  const literal = updates[params?.update?.sessionUpdate]
  if (literal !== undefined) judge(literal, params.update)
  for (const meta of [params?._meta, params?.update?._meta, result?._meta]) judgeMeta(meta)
  for (const session of result?.sessions ?? []) judgeMeta(session._meta)
  if (error?.data !== undefined) judge('ErrorData', error.data)
}

/** One call of the extension, both ways. */
async function call(editor: Editor, method: string, params: Loose): Promise<Loose> {
  const shapes = methods.get(method)
  judge(shapes.params, params)
  const result = await editor.request(method, params)
  judge(shapes.result, result)
  return result
}

it('over everything a session can go through', async () => {
  const harness = await openHarness()
  const editor = harness.connect()
  for (const name of ['_session/await_resumption', 'session/await_resumption']) {
    editor.on(name, ({ handle }) => {
      const answer = { handle: `their-${handle}` }
      judge('SessionAwaitResumptionResponse', answer)
      return answer
    })
  }
  const { agentCapabilities } = await editor.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { _meta: { lull: { rfc: true } } },
  })
  judge('CapabilitiesMeta', agentCapabilities._meta.lull)
  const sessionId = await newSession(editor)

  // A suspension, from the request to the wake, and what is refused on the way.
  const working = [{ say: 'at it' }, { step: 'long', ms: 60_000 }, { ask: 'And?' }]
  const turn = editor.begin('session/prompt', prompt(sessionId, working))
  await expect.poll(() => editor.text()).toBe('at it')
  const resumeWhen = { onEvent: 'never', timeout: { durationMinutes: 600 } }
  const suspending = call(editor, '_session/suspend', {
    sessionId,
    reason: 'lunch',
    mode: 'interrupt_immediate',
    resumeWhen,
  })
  const { handle, _meta } = await suspending
  await turn.answer
  await editor.request('session/list', {})
  const mistaken = { sessionId, handle: 'suspend-other' }
  await expect(editor.request('_session/wake', mistaken)).rejects.toMatchObject({ code: -32012 })
  const gently = { sessionId, mode: 'gently' }
  await expect(editor.request('_session/suspend', gently)).rejects.toMatchObject({ code: -32602 })
  const { taskId } = _meta.lull
  await call(editor, '_session/wake', { sessionId, handle, input: 1, _meta: { lull: { taskId } } })
  const again = { sessionId, handle }
  await expect(editor.request('_session/wake', again)).rejects.toMatchObject({ code: -32011 })

  // Reminders and steering, in the turn that goes on by itself and asks.
  const reminder = { body: 'rebase', dedupeKey: 'k', ttlTurns: 1 }
  await call(editor, '_session/inject_reminder', { sessionId, reminder })
  await call(editor, '_session/inject_reminder', { sessionId, reminder })
  const words = { sessionId, prompt: [{ type: 'text', text: 'faster' }] }
  await call(editor, '_session/steering', words)
  const turnsEnded = (): number => {
    // Whenever the step has begun anew, its time is over at the next look.
    harness.clock.advance(60_000)
    return editor.notifications('_session/turn_ended').length
  }
  await expect.poll(turnsEnded).toBe(1)
  await call(editor, '_session/receipts', { sessionId })
  await editor.request('session/load', { sessionId, cwd: '/work', mcpServers: [] })
  await editor.notify('session/cancel', { sessionId })

  // A self-park that `session/resume` wakes, as the RFC has it; the next turn shows the reminders that waited.
  const other = await newSession(editor)
  await call(editor, '_session/inject_reminder', { sessionId: other, reminder })
  const parking = [
    { park: { reason: 'ci', summary: 'Build 7', conditions: { onEvent: 'ci.passed' } } },
    { turn: [{ echo: 'reminders' }] },
    { complete: 'done' },
  ]
  await editor.request('session/prompt', prompt(other, parking))
  const resume = { sessionId: other, cwd: '/work', input: { approved: true } }
  judge('SessionResumeRequest', resume)
  await editor.request('session/resume', resume)
  const fates = (): ReadonlySet<string> =>
    new Set(editor.notifications('_session/reminder').map(({ event }) => event))
  await expect.poll(fates).toEqual(new Set(['emitted', 'deduped', 'expired']))

  for (const message of editor.received) judgeReceived(message)
})

it('has needed every shape that is published', () => {
  expect([...used].sort()).toEqual(pages.flatMap(({ shapes }) => shapes as string[]).sort())
})
