/** Lull's own promise, on top of A2A: how a stopped task looks to those who know of stops and to those who do not. */
import {
  byVersion,
  check,
  fails,
  failsWithStatus,
  has,
  is,
  isNot,
  isTask,
  lacks,
  oneOf,
  shaped,
  state,
  succeeds,
} from '../checks.ts'
import type { Case } from '../model.ts'
import { ABSENT_ID, FIRST, get, script, send, start, user } from '../steps.ts'
import { at, show } from '../values.ts'
import { must, should } from './define.ts'
import { CONTROL, end, OURS, pause, resume, shows, ticking } from './ext-steps.ts'

export const EXT_STATE: readonly Case[] = [
  must(
    'LULL-STATE-001',
    'state',
    'A paused task is WORKING in 1.0 with the truth beside it',
    [
      ticking,
      pause({ reason: 'operator review' }),
      get(FIRST, {
        expect: [
          shows('paused-by-client'),
          byVersion({
            '1.0': is(`task.metadata.${CONTROL}.handle`, '$pause.result.handle'),
            '0.3': isTask,
          }),
          is(`task.metadata.${CONTROL}.reason`, 'operator review'),
          // Clients take every status text for output of the agent, which did not say this.
          lacks('task.status.message'),
        ],
      }),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-STATE-002',
    'state',
    'A paused task stays well-formed for who knows nothing of pauses',
    [
      ticking,
      pause({ reason: 'operator review' }),
      get(FIRST, {
        expect: [
          byVersion({ '1.0': shaped('Task', 'task'), '0.3': shaped('Task', 'body.result') }),
        ],
      }),
      end,
    ],
    { ...OURS, bindings: ['jsonrpc'] },
  ),
  must(
    'LULL-STATE-003',
    'state',
    'After a resume the metadata says active, and is not deleted',
    [
      ticking,
      pause(),
      resume(),
      get(FIRST, { expect: [is(`task.metadata.${CONTROL}.state`, 'active'), state('WORKING')] }),
      end,
    ],
    { ...OURS, versions: ['1.0'] },
  ),
  must(
    'LULL-MESSAGE-001',
    'state',
    'A message to a paused task is kept and does not resume it',
    [
      ticking,
      pause(),
      send(user('note', { taskId: FIRST }), {
        as: 'note',
        expect: [succeeds, is('task.id', FIRST)],
      }),
      get(FIRST, {
        expect: [
          shows('paused-by-client'),
          check('the history has it', (got, { vars }) =>
            show(at(got, 'task.history')).includes('note please') ||
            JSON.stringify(at(got, 'task.history')).includes(
              String(at(vars, 'note.request.message.messageId')),
            )
              ? undefined
              : show(at(got, 'task.history')),
          ),
        ],
      }),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-CANCEL-001',
    'state',
    'A paused task can be canceled, and drops its handle',
    [
      ticking,
      pause(),
      end,
      get(FIRST, { expect: [state('CANCELED'), lacks(`task.metadata.${CONTROL}.handle`)] }),
      resume({}, [fails('NotPaused', 'Terminal')]),
    ],
    OURS,
  ),
  must(
    'LULL-CANCEL-002',
    'state',
    'Cancel does not wait for a step that ignores it',
    [
      start(script([{ step: 'stubborn', ms: 20_000, stubborn: true }])),
      get(FIRST, { until: state('WORKING') }),
      end,
    ],
    OURS,
  ),
  should(
    'LULL-SEND-TWICE',
    'send',
    'The same message twice is one task',
    [
      {
        do: 'send',
        with: {
          message: {
            messageId: '{lane.uuid}',
            role: 'ROLE_USER',
            parts: [{ text: 'once' }],
          },
        },
        as: 'first',
        expect: [succeeds],
        assume: [isTask],
      },
      {
        do: 'send',
        with: { message: '$first.request.message' },
        expect: [succeeds, is('task.id', FIRST)],
      },
      send(user('another'), { expect: [isNot('task.id', FIRST)] }),
    ],
    OURS,
  ),
  must(
    'LULL-CARD-001',
    'card',
    'The 1.0 card offers the extensions, none of them required',
    [
      {
        http: {
          method: 'GET',
          origin: true,
          path: '/.well-known/agent-card.json',
          headers: { 'a2a-version': '1.0' },
        },
        expect: [
          shaped('AgentCard', 'body'),
          lacks('body.capabilities.supportsPause'),
          ...['task-control', 'reminders', 'user-consent'].map((name) =>
            check(`offers ${name}`, (got) => {
              const all = at(got.body, 'capabilities.extensions')
              const found = (Array.isArray(all) ? all : []).find(
                (item: unknown) => at(item, 'uri') === `urn:lull:a2a:${name}:1`,
              )
              return at(found, 'required') !== true && at(found, 'params') !== undefined
                ? undefined
                : show(found)
            }),
          ),
        ],
      },
    ],
    { versions: ['1.0'], bindings: ['card'], needs: ['task-control'] },
  ),
  must(
    'LULL-CARD-002',
    'card',
    'The 0.3 card carries the RFC fields',
    [
      {
        http: { method: 'GET', origin: true, path: '/.well-known/agent-card.json' },
        expect: [
          is('body.capabilities.supportsPause', true),
          is('body.capabilities.supportsAwaitResumption', true),
          has('body.capabilities.resumeCauses.0', 'body.capabilities._meta.harn'),
          is('body.capabilities.reminders.inject', true),
          oneOf('body.capabilities.reminders.emit', [true]),
        ],
      },
    ],
    { versions: ['0.3'], bindings: ['card'], needs: ['task-control'] },
  ),
  must(
    'LULL-STATE-004',
    'state',
    'A list of working tasks has the paused ones, with the truth beside them',
    [
      ticking,
      pause(),
      {
        do: 'list',
        with: { contextId: '$first.task.contextId', status: 'TASK_STATE_WORKING' },
        expect: [
          is('result.tasks.0.id', FIRST),
          is(`result.tasks.0.metadata.${CONTROL}.state`, 'paused-by-client'),
        ],
      },
      end,
    ],
    { ...OURS, versions: ['1.0'] },
  ),
  must(
    'LULL-ERR-001',
    'errors',
    'Refusals over REST have their HTTP status',
    [
      { do: 'pause', with: { taskId: ABSENT_ID }, expect: [failsWithStatus('TaskNotFound')] },
      ticking,
      { do: 'resume', with: { taskId: FIRST }, expect: [failsWithStatus('NotPaused')] },
      {
        do: 'pause',
        with: { taskId: FIRST, mode: 'x' },
        expect: [failsWithStatus('InvalidParams')],
      },
      pause(),
      {
        do: 'resume',
        with: { taskId: FIRST, handle: 'suspend-other' },
        expect: [failsWithStatus('HandleMismatch')],
      },
      end,
    ],
    { ...OURS, versions: ['1.0'], bindings: ['rest'] },
  ),
]
