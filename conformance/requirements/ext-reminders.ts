/** Lull's own promise: reminders (extension urn:lull:a2a:reminders:1). */
import { check, fails, has, is, isNot, matches, refused, state, succeeds, text } from '../checks.ts'
import type { Args, Case, Check, Json, Step } from '../model.ts'
import { completed, FIRST, get, script, start } from '../steps.ts'
import { at, show } from '../values.ts'
import { must } from './define.ts'
import { ticking } from './ext-steps.ts'

const URI = 'urn:lull:a2a:reminders:1'
const OURS = { versions: ['1.0', '0.3'], needs: ['reminders'] } as const
const RPC = { ...OURS, bindings: ['jsonrpc'] } as const

const NOTIFIED = {
  'x-a2a-extensions': 'urn:lull:a2a:rfc-notifications:1, urn:lull:a2a:task-control:1',
}

const TASK = { taskId: FIRST }
const inject = (reminder: Json, expect: readonly Check[] = [succeeds], as = 'reminder'): Step => ({
  do: 'injectReminder',
  with: { ...TASK, reminder } as Args,
  as,
  expect,
})
const end: Step = { do: 'cancel', with: { id: FIRST }, expect: [succeeds] }

/** Stops before the turn that will show what was injected meanwhile. */
const STOPPED = script([
  { park: { reason: 'waiting' } },
  { turn: [{ tool: 'look', ms: 5 }, { echo: 'reminders' }] },
  { complete: 'done' },
])
const THE_TASK = '$seen.frames.0.event.task.id'
const parked: Check = check('a frame that says parked', (got) =>
  JSON.stringify(got.frames).includes('paused-by-agent') ? undefined : 'no such frame yet',
)
const reminded: readonly Step[] = [
  { read: 'one', until: parked, as: 'seen' },
  {
    do: 'injectReminder',
    with: { taskId: THE_TASK, reminder: { body: 'Be brief' } },
    expect: [succeeds],
  },
  { do: 'resume', with: { taskId: THE_TASK }, expect: [succeeds] },
]

export const EXT_REMINDERS: readonly Case[] = [
  must(
    'LULL-REMINDER-001',
    'reminders',
    'An injected reminder is accepted with id and time',
    [
      ticking,
      inject({ body: 'Use the staging database', tags: ['db'] }, [
        succeeds,
        text('result.reminderId'),
        is('result.dedupedCount', 0),
        matches('result.acceptedAt', /Z$/),
      ]),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-REMINDER-002',
    'reminders',
    'The same dedupe key replaces what is pending',
    [
      start(script([{ park: { reason: 'waiting' } }])),
      inject({ body: 'one', dedupeKey: 'k' }, [succeeds, is('result.dedupedCount', 0)]),
      inject(
        { body: 'two', dedupeKey: 'k' },
        [
          succeeds,
          is('result.dedupedCount', 1),
          isNot('result.reminderId', '$reminder.result.reminderId'),
        ],
        'second',
      ),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-REMINDER-003',
    'reminders',
    'The same id twice is one reminder; with other words, an error',
    [
      start(script([{ park: { reason: 'waiting' } }])),
      inject({ id: 'r-1', body: 'one' }, [succeeds, is('result.reminderId', 'r-1')]),
      inject({ id: 'r-1', body: 'one' }, [succeeds, is('result.reminderId', 'r-1')]),
      inject({ id: 'r-1', body: 'two' }, [fails('InvalidParams')]),
      end,
    ],
    OURS,
  ),
  ...(
    [
      ['blank', { body: '   ' }],
      ['missing', {}],
      ['ttl', { body: 'x', ttlTurns: 0 }],
      ['role', { body: 'x', roleHint: 'user' }],
      ['unknown-key', { body: 'x', colour: 'red' }],
    ] as const
  ).map(([variant, reminder]) =>
    must(
      'LULL-REMINDER-004',
      'reminders',
      `A wrong reminder is refused: ${variant}`,
      [ticking, inject(reminder, [fails('InvalidParams')]), end],
      { ...OURS, variant },
    ),
  ),
  must(
    'LULL-REMINDER-005',
    'reminders',
    'A task that has ended takes no reminders',
    [completed, inject({ body: 'too late' }, [fails('Terminal', 'NotPausable')])],
    OURS,
  ),
  must(
    'LULL-REMINDER-006',
    'reminders',
    'A shown reminder is a status update that repeats the state',
    [
      { open: 'stream', with: { message: STOPPED }, as: 'one' },
      ...reminded,
      {
        read: 'one',
        until: 'closed',
        expect: [
          check('an emitted frame', (got) => {
            const found = (got.frames ?? []).find(
              ({ event }) => at(event, `statusUpdate.metadata.${URI}.event`) === 'emitted',
            )
            if (found === undefined) return show(got.frames?.map(({ event }) => event))
            const status = at(found.event, 'statusUpdate.status.state')
            return status === 'TASK_STATE_WORKING' ? undefined : show(found.event)
          }),
        ],
      },
      get(THE_TASK, {
        expect: [
          state('COMPLETED'),
          check('the agent saw it, the history did not', (got) => {
            const shown = JSON.stringify(at(got, 'task.artifacts')).includes('Be brief')
            const leaked = JSON.stringify(at(got, 'task.history') ?? []).includes('Be brief')
            return shown && !leaked ? undefined : show(got.task)
          }),
        ],
      }),
    ],
    { ...OURS, versions: ['1.0'], needs: ['reminders', 'streaming'] },
  ),
  must(
    'LULL-REMINDER-006',
    'reminders',
    'In 0.3 a shown reminder is a notification, for who asks',
    [
      { open: 'stream', with: { message: STOPPED }, as: 'one', headers: NOTIFIED },
      ...reminded,
      {
        read: 'one',
        until: 'closed',
        expect: [
          check('tasks/reminderEmitted', (got) =>
            (got.frames ?? []).some(({ data }) => at(data, 'method') === 'tasks/reminderEmitted')
              ? undefined
              : show(got.frames?.map(({ data }) => data)),
          ),
        ],
      },
    ],
    { ...RPC, versions: ['0.3'], needs: ['reminders', 'streaming'], variant: 'rfc' },
  ),
  must(
    'LULL-REMINDER-007',
    'reminders',
    'Pending reminders can be listed and cleared',
    [
      start(script([{ park: { reason: 'waiting' } }])),
      inject({ body: 'one', tags: ['a'] }),
      inject({ body: 'two', tags: ['b'] }),
      {
        do: 'listReminders',
        with: TASK,
        expect: [
          succeeds,
          check('both', (got) =>
            /one/.test(JSON.stringify(got.result)) && /two/.test(JSON.stringify(got.result))
              ? undefined
              : show(got.result),
          ),
        ],
      },
      { do: 'clearReminders', with: { ...TASK, tag: 'a' }, expect: [is('result.clearedCount', 1)] },
      { do: 'clearReminders', with: { ...TASK, tag: 'a' }, expect: [is('result.clearedCount', 0)] },
      end,
    ],
    RPC,
  ),
  must(
    'LULL-REMINDER-008',
    'reminders',
    'params.reminder must be an object',
    [ticking, inject('be brief', [refused, has('error')]), end],
    OURS,
  ),
  must(
    'LULL-REMINDER-009',
    'reminders',
    'The same id is the same reminder also when it is gone, and is answered the same',
    [
      start(script([{ park: { reason: 'waiting' } }])),
      inject({ body: 'older', dedupeKey: 'k' }),
      inject({ id: 'r-1', body: 'one', dedupeKey: 'k' }, [succeeds], 'answer'),
      { do: 'clearReminders', with: TASK, expect: [is('result.clearedCount', 1)] },
      inject(
        { id: 'r-1', body: 'one', dedupeKey: 'k' },
        [
          succeeds,
          is('result.dedupedCount', 1),
          is('result.acceptedAt', '$answer.result.acceptedAt'),
        ],
        'second',
      ),
      { do: 'clearReminders', with: TASK, expect: [is('result.clearedCount', 0)] },
      inject({ id: 'r-1', body: 'two' }, [fails('InvalidParams')]),
      end,
    ],
    RPC,
  ),
  must(
    'LULL-REMINDER-010',
    'reminders',
    'Bodies, tags, keys and sources have a largest size',
    [
      ticking,
      ...(
        [
          { body: 'x'.repeat(16_385) },
          { body: 'x', tags: ['x'.repeat(257)] },
          { body: 'x', tags: Array<string>(33).fill('x') },
          { body: 'x', dedupeKey: 'x'.repeat(257) },
          { body: 'x', source: 'x'.repeat(257) },
        ] as const
      ).map((reminder) => inject(reminder, [fails('InvalidParams')])),
      end,
    ],
    OURS,
  ),
]
