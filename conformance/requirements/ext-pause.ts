/** Lull's own promise, on top of A2A: pause (extension urn:lull:a2a:task-control:1). */
import { fails, is, isTask, lacks, matches, state, succeeds, text } from '../checks.ts'
import type { Case } from '../model.ts'
import { ABSENT_ID, completed, FIRST, get, script, start, waiting } from '../steps.ts'
import { must } from './define.ts'
import {
  CONTROL,
  end,
  explained,
  ISO,
  OURS,
  pause,
  resume,
  rfcUnknown,
  shows,
  TASK,
  ticking,
  unknownTask,
} from './ext-steps.ts'

export const EXT_PAUSE: readonly Case[] = [
  must(
    'LULL-PAUSE-001',
    'pause',
    'A pause answers with state, handle and time',
    [
      ticking,
      pause({ reason: 'operator review' }, [
        succeeds,
        is('result.taskId', FIRST),
        is('result.state', 'paused-by-client'),
        text('result.handle'),
        matches('result.pausedAt', ISO),
        is('result.reason', 'operator review'),
      ]),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-PAUSE-002',
    'pause',
    'A second pause answers with the same handle',
    [
      ticking,
      pause({ reason: 'first' }),
      {
        do: 'pause',
        with: { ...TASK, reason: 'second' },
        expect: [
          succeeds,
          is('result.handle', '$pause.result.handle'),
          is('result.pausedAt', '$pause.result.pausedAt'),
          is('result.reason', 'first'),
        ],
      },
      end,
    ],
    OURS,
  ),
  must(
    'LULL-PAUSE-003',
    'pause',
    'An unknown task',
    [
      { do: 'pause', with: { taskId: ABSENT_ID }, expect: [unknownTask] },
      { do: 'resume', with: { taskId: ABSENT_ID }, expect: [unknownTask] },
      {
        do: 'injectReminder',
        with: { taskId: ABSENT_ID, reminder: { body: 'x' } },
        expect: [unknownTask],
      },
    ],
    OURS,
  ),
  must(
    'LULL-PAUSE-003',
    'pause',
    'An unknown task is -32004 in 0.3',
    [
      { do: 'pause', with: { taskId: ABSENT_ID }, expect: [rfcUnknown] },
      { do: 'resume', with: { taskId: ABSENT_ID }, expect: [rfcUnknown] },
    ],
    { versions: ['0.3'], bindings: ['jsonrpc'], needs: ['task-control'], variant: 'rfc' },
  ),
  must(
    'LULL-PAUSE-004',
    'pause',
    'A task that waits for somebody cannot be paused',
    [
      waiting,
      pause({}, [fails('NotPausable'), explained(/^TASK_NOT_PAUSABLE$/)]),
      get(FIRST, { expect: [state('INPUT_REQUIRED')] }),
    ],
    OURS,
  ),
  must(
    'LULL-PAUSE-005',
    'pause',
    'A task that has ended cannot be paused',
    [
      completed,
      pause({}, [
        fails('NotPausable', 'Terminal'),
        explained(/^(TASK_TERMINAL|TASK_NOT_PAUSABLE)$/),
      ]),
    ],
    OURS,
  ),
  ...(
    [
      ['mode', { mode: 'sometimes' }],
      ['grace', { graceMs: 60_001 }],
      ['conditions', { conditions: { timeout: { durationMinutes: -1 } } }],
      ['reason', { reason: 17 }],
    ] as const
  ).map(([variant, wrong]) =>
    must(
      'LULL-PAUSE-006',
      'pause',
      `A wrong ${variant} is refused, and nothing is paused`,
      [
        ticking,
        pause(wrong, [fails('InvalidParams')]),
        get(FIRST, { expect: [state('SUBMITTED', 'WORKING'), lacks(`task.metadata.${CONTROL}`)] }),
        end,
      ],
      { ...OURS, variant },
    ),
  ),
  must(
    'LULL-PAUSE-006',
    'pause',
    'A wrong field is named in 0.3',
    [
      ticking,
      pause({ mode: 'sometimes' }, [is('error.code', -32602), matches('error.data.path', /mode/)]),
      end,
    ],
    { versions: ['0.3'], bindings: ['jsonrpc'], needs: ['task-control'], variant: 'path' },
  ),
  must(
    'LULL-PAUSE-007',
    'pause',
    'Past the grace time the answer says pausing, with the handle',
    [
      start(script([{ step: 'stubborn', ms: 1200, stubborn: true }, { ask: 'Go on?' }])),
      get(FIRST, { until: state('WORKING') }),
      pause({ graceMs: 20, reason: 'later' }, [
        succeeds,
        is('result.state', 'working'),
        is('result.pausing', true),
        text('result.handle'),
        matches('result.requestedAt', ISO),
      ]),
      { ...get(FIRST), until: shows('paused-by-client'), expect: [isTask] },
      resume({ handle: '$pause.result.handle' }),
      end,
    ],
    OURS,
  ),
]
