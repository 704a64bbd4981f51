/** One task, two protocols, clients of others on both sides: stopped here, seen and resumed there. */
import { type Task, TaskState } from 'a2a-js-v1'
import type { Client } from 'a2a-js-v1/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAcpx } from './acpx.ts'
import type { Any, Peer } from './generations.ts'
import { type Harness, openHarness, quiescing, said, script } from './harness.ts'
import { a2aClient, control, message, type Server, startServer } from './server.ts'
import { connectTo, type Remote, transports } from './transports.ts'

let harness: Harness
let server: Server | undefined
afterEach(async () => {
  await server?.kill()
  server = undefined
  await harness.close()
})

const steps = [{ step: 'one', ms: 1 }, { step: 'two' }, { echo: 'wake' }, { complete: 'Done.' }]
const conditions = {
  onEvent: 'ci.passed',
  trigger: { filter: { exact: { type: 'ci.done' } } },
  timeout: {
    durationMinutes: 90,
    onTimeout: 'resume_with_input',
    input: { late: [true, 1.5, 'é'] },
  },
}

/** What A2A says of how a task stands. */
const factsOf = (task: Task | undefined): Any => task?.metadata?.['urn:lull:a2a:task-control:1']
const taskOf = async (a2a: Client, contextId: string): Promise<Task> => {
  const { tasks } = await a2a.listTasks({
    tenant: '',
    contextId,
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
  } as never)
  expect(tasks).toHaveLength(1)
  return tasks[0]!
}
/** What ACP says of it, as it was told last. */
const toldOf = ({ updates }: Peer): Any =>
  updates.findLast(({ update }) => update._meta?.lull?.suspend)?.update._meta.lull.suspend
const prompt = (client: Peer, sessionId: string, ...ops: readonly object[]): Promise<Any> =>
  client.request('session/prompt', { sessionId, prompt: script(...ops) })

describe('`lull acp --port`', () => {
  let url: string
  const serving = /serving A2A at (http:\S+)/
  /** As the agent says it on stderr. */
  async function found(): Promise<string> {
    const lines = () => harness.recordings().flatMap(({ stderr }) => stderr)
    await expect.poll(() => lines().some((line) => serving.test(line))).toBe(true)
    return serving.exec(lines().join('\n'))?.[1] ?? ''
  }
  beforeEach(() => {
    harness = openHarness(['--port', '0'])
  })

  it('lets an A2A client see and resume what an editor suspended, conditions and cause byte for byte', async () => {
    const editor = harness.connect('2.4.0')
    await harness.initialize(editor)
    url = await found()
    const a2a = await a2aClient(url)
    const sessionId = await harness.open(editor)
    const prompted = prompt(editor, sessionId, ...steps)
    await harness.began('one')
    const request = { sessionId, reason: 'review', resumeWhen: conditions }
    const suspending = editor.request('_session/suspend', request)
    await quiescing(editor)
    harness.openGate(1)
    const suspended = await suspending
    await prompted

    const task = await taskOf(a2a, sessionId)
    const facts = factsOf(task)
    expect(facts).toMatchObject({
      state: 'paused-by-client',
      handle: suspended.handle,
      reason: 'review',
      pausedAt: suspended.suspendedAt,
    })
    expect(JSON.stringify(suspended.resumeWhen)).toBe(JSON.stringify(conditions))
    expect(JSON.stringify(facts.conditions)).toBe(JSON.stringify(conditions))
    expect(JSON.stringify(toldOf(editor).resumeWhen)).toBe(JSON.stringify(conditions))

    const resumed = await control(url, 'tasks/resume', { taskId: task.id, input: { go: true } })
    await expect.poll(() => said(editor)).toContain('Done.')
    const { cause, resumedAt, hadResumeInput, continueTranscript } = resumed
    expect(cause).toBe('explicit_resume')
    expect(toldOf(editor)).toMatchObject({ cause, resumedAt, hadResumeInput, continueTranscript })
    const done = await taskOf(a2a, sessionId)
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(factsOf(done)).toMatchObject({ cause, resumedAt })
  })

  it('lets an A2A client resume what acpx suspended', async () => {
    const acpx = createAcpx(harness)
    await acpx.run('sessions', 'new')
    const prompted = acpx.run('prompt', JSON.stringify({ script: steps }))
    await harness.began('one')
    const setting = acpx.run('set', 'run_state', await harness.offered('suspended'))
    await expect
      .poll(() => JSON.stringify(harness.messages().map(({ params }) => params?.update?._meta)))
      .toContain('quiescing')
    harness.openGate(1)
    await setting
    const { messages } = await prompted
    const { suspend, taskId } = messages.at(-1).result._meta.lull
    // The agent that was started last is the one with the session; those before have ended.
    url = serving.exec(harness.recordings().at(-1)?.stderr.join('\n') ?? '')?.[1] ?? ''
    const a2a = await a2aClient(url)
    const task = await a2a.getTask({ tenant: '', id: taskId } as never)
    expect(factsOf(task)).toMatchObject({ state: 'paused-by-client', handle: suspend.handle })
    await control(url, 'tasks/resume', { taskId, handle: suspend.handle })
    await expect
      .poll(async () => (await a2a.getTask({ tenant: '', id: taskId } as never)).status?.state)
      .toBe(TaskState.TASK_STATE_COMPLETED)
    await acpx.close()
  })
})

describe('`lull serve`', () => {
  let a2a: Client
  let acp: Remote
  let url: string
  let watched = (): void => undefined
  beforeEach(async () => {
    harness = openHarness()
    server = await startServer(harness)
    url = server.url
    a2a = await a2aClient(url)
    acp = harness.record(connectTo(url, transports[0]!))
    await harness.initialize(acp)
  })
  afterEach(() => acp.hangUp())

  const attach = (sessionId: string): Promise<Any> =>
    acp.request('session/load', { sessionId, cwd: harness.cwd, mcpServers: [] })
  const send = async (contextId: string, ...ops: readonly object[]): Promise<string> =>
    ((await a2a.sendMessage(message({ script: ops }, { contextId }))) as Task).id
  const stateOf = async (id: string): Promise<TaskState | undefined> =>
    (await a2a.getTask({ tenant: '', id } as never)).status?.state

  it('lets an editor list, load and wake what an A2A client paused, conditions and cause byte for byte', async () => {
    const contextId = 'born-over-a2a'
    const id = await send(contextId, ...steps)
    await harness.began('one')
    const pausing = control(url, 'tasks/pause', { taskId: id, reason: 'lunch', conditions })
    await expect.poll(async () => factsOf(await taskOf(a2a, contextId))?.pausing).toBe(true)
    harness.openGate(1)
    const { handle, pausedAt } = await pausing
    const { sessions } = await acp.request('session/list', {})
    const listed = sessions.find((one: Any) => one.sessionId === contextId)._meta.lull.suspend
    expect(listed).toMatchObject({ state: 'suspended', handle, suspendedAt: pausedAt })
    expect(JSON.stringify(listed.resumeWhen)).toBe(JSON.stringify(conditions))
    const { _meta } = await attach(contextId)
    expect(_meta.lull.suspend).toEqual(listed)
    const woken = await acp.request('_session/wake', { sessionId: contextId, handle, input: 7 })
    await expect.poll(() => said(acp)).toContain('Done.')
    const { cause, resumedAt, hadResumeInput } = factsOf(await taskOf(a2a, contextId))
    expect({ cause, resumedAt, hadResumeInput }).toEqual({
      cause: woken.cause,
      resumedAt: woken.resumedAt,
      hadResumeInput: true,
    })
    expect(await stateOf(id)).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  it('lets a prompt wake what an A2A client began and parked', async () => {
    const contextId = 'parked-over-a2a'
    const park = { park: { reason: 'CI is running', conditions: { onEvent: 'ci.passed' } } }
    const id = await send(contextId, park, { complete: 'Shipped.' })
    await expect
      .poll(async () => factsOf(await taskOf(a2a, contextId))?.state)
      .toBe('paused-by-agent')
    await attach(contextId)
    expect(await prompt(acp, contextId, { say: 'It passed.' })).toMatchObject({
      stopReason: 'end_turn',
    })
    expect(said(acp)).toEqual(['Shipped.'])
    expect(factsOf(await taskOf(a2a, contextId))).toMatchObject({ cause: 'external_event' })
    expect(await stateOf(id)).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  it('tells of a reminder the same in both: injected, deduped, emitted, expired', async () => {
    const listener = harness.record(connectTo(url, transports[0]!, { listens: true }))
    await harness.initialize(listener, { _meta: { lull: {} } })
    const sessionId = await harness.open(listener)
    const turn = { turn: [{ say: 'A turn.' }] }
    const prompted = prompt(listener, sessionId, { step: 'one', ms: 1 }, turn, turn)
    await harness.began('one')
    const { id } = await taskOf(a2a, sessionId)
    const seen: unknown[] = []
    const watching = (async () => {
      for await (const { payload } of a2a.resubscribeTask({ tenant: '', id } as never)) {
        if (payload?.$case === 'task') watched()
        if (payload?.$case !== 'statusUpdate') continue
        seen.push(...[payload.value.metadata?.['urn:lull:a2a:reminders:1'] ?? []].flat())
      }
    })()
    await new Promise<void>((resolve) => {
      watched = resolve
    })
    const remind = (body: string): Promise<Any> =>
      listener.request('_session/inject_reminder', {
        sessionId,
        body,
        tags: ['ci'],
        dedupeKey: 'build',
        ttlTurns: 1,
      })
    const first = await remind('The build is red')
    const second = await remind('The build is green')
    expect([first.dedupedCount, second.dedupedCount]).toEqual([0, 1])
    harness.openGate(1)
    await prompted
    await watching
    const told = listener.heard
      .filter(({ method }) => method === '_session/reminder')
      .map(({ params: { sessionId: _session, _meta, ...change } }) => change)
    expect(told.map(({ event }) => event)).toEqual(['deduped', 'emitted', 'expired'])
    expect(seen).toEqual(told)
    await listener.hangUp()
  })

  it('cancels what an editor began when that closes its session, and nothing else', async () => {
    const sessionId = await harness.open(acp)
    const parks = [{ park: { reason: 'for ever' } }]
    const { _meta } = await prompt(acp, sessionId, ...parks)
    const other = await send(sessionId, { step: 'other', ms: 1 }, { complete: 'Done.' })
    await harness.began('other')
    await acp.request('session/close', { sessionId })
    expect(await stateOf(_meta.lull.taskId)).toBe(TaskState.TASK_STATE_CANCELED)
    expect(await stateOf(other)).toBe(TaskState.TASK_STATE_WORKING)
    harness.openGate(1)
    await expect.poll(() => stateOf(other)).toBe(TaskState.TASK_STATE_COMPLETED)
  })
})
