/** Lull's own promise: streams that can be continued, and what streams show of pauses. */
import {
  byVersion,
  check,
  ended,
  endsTerminal,
  fails,
  is,
  isTask,
  lacks,
  live,
  matches,
  sees,
  shaped,
  succeeds,
} from '../checks.ts'
import type { Case, Check, Outcome, Step } from '../model.ts'
import { answer, FIRST, script, send, subscribe, user, waiting } from '../steps.ts'
import { at, equal, show } from '../values.ts'
import { must } from './define.ts'
import { CONTROL, pause, TICKING } from './ext-steps.ts'

const OURS = { versions: ['1.0', '0.3'], needs: ['task-control', 'streaming'] } as const
const NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'

/** The id of the task a stream talks about, for the steps that follow. */
const opened: readonly Step[] = [
  { open: 'stream', with: { message: script(TICKING) }, as: 'one' },
  { read: 'one', until: live, as: 'seen' },
]
const THE_TASK = '$seen.frames.0.event.task.id'

const paused: Check = check('a frame that says paused', (got) =>
  JSON.stringify(got.frames).includes('paused-by-client') ? undefined : 'no such frame yet',
)
/** Its step outlasts the pause that is asked for in the middle of it. */
const BUSY = [{ say: 'begun' }, { step: 'long', ms: 1_000, stubborn: true }, { ask: '?' }] as const
const begun: Check = check('a frame that says it has begun', (got) =>
  JSON.stringify(got.frames).includes('"text":"begun"') ? undefined : 'no such frame yet',
)

/** The pause was accepted, and waits for what is in flight. */
const pausing: Check = check('a frame that says working and pausing', (got) => {
  const told = (got.frames ?? []).some(({ event }) => {
    const facts = at(event, `statusUpdate.metadata.${CONTROL}`)
    const core = at(event, 'statusUpdate.status.state')
    return core === 'TASK_STATE_WORKING' && equal(at(facts, 'pausing'), true)
  })
  return told ? undefined : 'no such frame yet'
})
/** The first state after the pause that is not the pause. */
const resumed: Check = check('a frame after the pause that says working', (got) => {
  const said = (got.frames ?? []).map(({ data }) => JSON.stringify(data))
  const last = said.findLastIndex((text) => /"(state|newState)":"paused-by-client"/.test(text))
  const after = said.slice(last + 1)
  return last >= 0 && after.some((text) => /"state":"(TASK_STATE_WORKING|working)"/.test(text))
    ? undefined
    : 'no such frame yet'
})

const ids = (got: Outcome) => (got.frames ?? []).map((frame) => frame.id)

const wellFormed = check('every frame is an ordinary one', (got, context) => {
  for (const { data } of got.frames ?? []) {
    const body = context.binding === 'jsonrpc' ? at(data, 'result') : data
    const problem = shaped('StreamResponse', 'result').test({ ...got, result: body }, context)
    if (problem !== undefined) return problem
  }
  return undefined
})

const pauseIt: Step = { ...pause({}), with: { taskId: THE_TASK, reason: 'review' } } as Step
/** Resumes, waits until the stream shows that, and ends the task, which would work on for long. */
const resumeIt: readonly Step[] = [
  { do: 'resume', with: { taskId: THE_TASK }, expect: [succeeds] },
  { read: 'one', until: resumed },
  { do: 'cancel', with: { id: THE_TASK }, expect: [succeeds] },
]

export const EXT_STREAMS: readonly Case[] = [
  must(
    'LULL-STREAM-001',
    'streams',
    'A stream stays open over a pause and ends with the task',
    [
      ...opened,
      pauseIt,
      { read: 'one', until: paused },
      ...resumeIt,
      { read: 'one', until: 'closed', expect: [endsTerminal, sees('CANCELED')] },
    ],
    OURS,
  ),
  must(
    'LULL-STREAM-002',
    'streams',
    'A pause on a stream is an ordinary frame to who knows nothing',
    [
      ...opened,
      pauseIt,
      { read: 'one', until: paused },
      ...resumeIt,
      {
        read: 'one',
        until: 'closed',
        expect: [
          wellFormed,
          byVersion({
            '1.0': check('the update carries the metadata', (got) =>
              (got.frames ?? []).some(
                ({ event }) =>
                  at(event, `statusUpdate.metadata.${CONTROL}.state`) === 'paused-by-client',
              )
                ? undefined
                : show(got.frames?.map(({ event }) => event)),
            ),
            '0.3': check('every frame answers the request', (got) =>
              (got.frames ?? []).every(({ data }) => at(data, 'result') !== undefined)
                ? undefined
                : show(got.frames?.map(({ data }) => data)),
            ),
          }),
        ],
      },
    ],
    { ...OURS, bindings: ['jsonrpc'] },
  ),
  must(
    'LULL-STREAM-003',
    'streams',
    'The RFC notifications come to who asks for them',
    [
      {
        open: 'stream',
        with: { message: script(TICKING) },
        as: 'one',
        headers: { 'x-a2a-extensions': NOTIFICATIONS },
      },
      { read: 'one', until: live, as: 'seen' },
      pauseIt,
      { read: 'one', until: paused },
      ...resumeIt,
      {
        read: 'one',
        until: 'closed',
        expect: [
          check('two tasks/statusUpdate notifications', (got) => {
            const found = (got.frames ?? []).filter(
              ({ data }) => at(data, 'method') === 'tasks/statusUpdate',
            )
            const [first, second] = found.map(({ data }) => at(data, 'params'))
            const facts = JSON.stringify([first, second])
            return found.length >= 2 && /handle/.test(facts) && /previousState/.test(facts)
              ? undefined
              : show(got.frames?.map(({ data }) => data))
          }),
        ],
      },
    ],
    { ...OURS, versions: ['0.3'], bindings: ['jsonrpc'] },
  ),
  must(
    'LULL-STREAM-004',
    'streams',
    'Every frame has an id of its own',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [
          ended,
          check('ids', (got) =>
            ids(got).every((id) => id !== undefined && id !== '') &&
            new Set(ids(got)).size === ids(got).length
              ? undefined
              : show(ids(got)),
          ),
        ],
      },
    ],
    OURS,
  ),
  must(
    'LULL-STREAM-005',
    'streams',
    'Last-Event-ID continues without loss or repeat',
    [
      waiting,
      subscribe('one'),
      { read: 'one', until: live, as: 'seen' },
      answer('tck-stream-001', { expect: [succeeds] }),
      { read: 'one', until: 'closed', as: 'all', expect: [endsTerminal] },
      {
        do: 'subscribe',
        with: { id: FIRST },
        headers: { 'last-event-id': '{seen.frames.0.id}' },
        expect: [
          ended,
          check('what came after the first frame, and nothing else', (got, { vars }) => {
            const rest = ((at(vars, 'all.frames') as Outcome['frames']) ?? []).slice(1)
            const events = (list: Outcome['frames']) =>
              (list ?? []).map(({ id, event }) => [id, event])
            return equal(events(got.frames), events(rest))
              ? undefined
              : `${show(events(got.frames))} against ${show(events(rest))}`
          }),
        ],
      },
    ],
    OURS,
  ),
  must(
    'LULL-STREAM-006',
    'streams',
    'A stream of a send closes when the agent asks',
    [
      {
        do: 'stream',
        with: { message: user('tck-input-required') },
        expect: [ended, sees('INPUT_REQUIRED')],
      },
    ],
    OURS,
  ),
  must(
    'LULL-STREAM-007',
    'streams',
    'A pause that waits for a step is told when it is accepted, and when it commits',
    [
      { open: 'stream', with: { message: script(BUSY) }, as: 'one' },
      { read: 'one', until: begun, as: 'seen' },
      { do: 'pause', with: { taskId: THE_TASK, graceMs: 0 }, expect: [succeeds] },
      { read: 'one', until: pausing },
      { read: 'one', until: paused },
      { do: 'cancel', with: { id: THE_TASK }, expect: [succeeds] },
    ],
    OURS,
  ),
  must(
    'LULL-TENANT-001',
    'REST',
    'Every 1.0 route exists with a tenant before it',
    [
      send(user('tck-complete-task'), { as: 'first', assume: [isTask] }),
      {
        http: {
          method: 'GET',
          path: '/acme/tasks?pageSize=1',
          headers: { 'a2a-version': '1.0' },
        },
        expect: [is('status', 200), lacks('body.error')],
      },
    ],
    { versions: ['1.0'], bindings: ['rest'], needs: ['task-control'] },
  ),
  must(
    'LULL-HINT-001',
    'versions',
    'A 1.0 method without the version says what is missing',
    [
      {
        http: {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {} },
        },
        expect: [fails('MethodNotFound'), matches('body.error.message', /A2A-Version/i)],
      },
    ],
    { versions: ['0.3'], bindings: ['jsonrpc'], needs: ['task-control'] },
  ),
  must(
    'LULL-ALIAS-001',
    'names',
    'The old names tasks/send and tasks/sendSubscribe are understood',
    [
      {
        http: {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: {
            jsonrpc: '2.0',
            id: 1,
            method: 'tasks/send',
            params: {
              message: {
                messageId: 'alias-{new.id}',
                role: 'user',
                parts: [{ kind: 'text', text: 'hello' }],
              },
            },
          },
        },
        expect: [succeeds, is('body.result.kind', 'task'), shaped('Task', 'body.result')],
      },
    ],
    { versions: ['0.3'], bindings: ['jsonrpc'], needs: ['task-control'] },
  ),
]
