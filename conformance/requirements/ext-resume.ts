/** Lull's own promise, on top of A2A: resume and self-park (extension urn:lull:a2a:task-control:1). */
import { byVersion, fails, is, isTask, matches, state, succeeds, text } from '../checks.ts'
import type { Case } from '../model.ts'
import { FIRST, get, script, send, start, waiting } from '../steps.ts'
import { must } from './define.ts'
import {
  CONTROL,
  end,
  explained,
  ISO,
  OURS,
  pause,
  resume,
  shows,
  TASK,
  ticking,
} from './ext-steps.ts'

export const EXT_RESUME: readonly Case[] = [
  must(
    'LULL-RESUME-001',
    'resume',
    'A resume answers with what it did',
    [
      ticking,
      pause(),
      resume({}, [
        succeeds,
        is('result.taskId', FIRST),
        is('result.state', 'working'),
        is('result.previousState', 'paused-by-client'),
        is('result.cause', 'explicit_resume'),
        is('result.hadResumeInput', false),
        is('result.continueTranscript', true),
        matches('result.resumedAt', ISO),
      ]),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-RESUME-002',
    'resume',
    'A wrong handle is refused',
    [
      ticking,
      pause(),
      resume({ handle: 'suspend-somebody-else' }, [fails('HandleMismatch')]),
      get(FIRST, { expect: [shows('paused-by-client')] }),
      resume({ handle: '$pause.result.handle' }),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-RESUME-003',
    'resume',
    'A task that is not paused cannot be resumed',
    [
      ticking,
      resume({}, [fails('NotPaused'), explained(/^TASK_NOT_PAUSED$/)]),
      pause(),
      resume(),
      resume({}, [fails('NotPaused'), explained(/^TASK_NOT_PAUSED$/)]),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-RESUME-004',
    'resume',
    'What the resume brings reaches the agent',
    [
      start(
        script([{ park: { reason: 'waiting on ci' } }, { echo: 'wake' }, { complete: 'done' }]),
      ),
      { ...get(FIRST), until: shows('paused-by-agent') },
      resume({ input: { build: 'green' }, continueTranscript: false }, [
        succeeds,
        is('result.previousState', 'paused-by-agent'),
        is('result.hadResumeInput', true),
        is('result.continueTranscript', false),
      ]),
      {
        ...get(FIRST),
        until: state('COMPLETED'),
        expect: [
          is('task.artifacts.0.name', 'echo-wake'),
          is('task.artifacts.0.parts.0.data.input', { build: 'green' }),
          is('task.artifacts.0.parts.0.data.cause', 'explicit_resume'),
        ],
      },
    ],
    OURS,
  ),
  must(
    'LULL-PARK-001',
    'park',
    'A parked task shows reason and summary',
    [
      start(script([{ park: { reason: 'waiting on ci', summary: 'Paused on CI build 7' } }])),
      {
        ...get(FIRST),
        until: shows('paused-by-agent'),
        expect: [
          byVersion({
            '1.0': is(`task.metadata.${CONTROL}.reason`, 'waiting on ci'),
            '0.3': isTask,
          }),
          matches('task.status.message.parts.0.text', /Paused on CI build 7|waiting on ci/),
        ],
      },
      end,
    ],
    OURS,
  ),
  must(
    'LULL-PARK-002',
    'park',
    'A blocking send returns when the task parks, if it knows of parks',
    [
      send(script([{ park: { reason: 'waiting' } }, { complete: 'done' }]), {
        as: 'first',
        headers: { 'a2a-extensions': CONTROL },
        expect: [succeeds, shows('paused-by-agent')],
      }),
      resume(),
      { ...get(FIRST), until: state('COMPLETED') },
    ],
    { ...OURS, bindings: ['jsonrpc'] },
  ),
  must(
    'LULL-PARK-002',
    'park',
    'A blocking 1.0 send that knows nothing of parks waits for the end',
    [
      send(
        script([
          { park: { reason: 'waiting', conditions: { timeout: { durationMinutes: 0.005 } } } },
          { complete: 'done' },
        ]),
        { expect: [succeeds, state('COMPLETED')] },
      ),
    ],
    { ...OURS, versions: ['1.0'], variant: 'unaware' },
  ),
  must(
    'LULL-PARK-003',
    'park',
    'Pausing a parked task is refused',
    [
      start(script([{ park: { reason: 'waiting' } }])),
      { ...get(FIRST), until: shows('paused-by-agent') },
      pause({}, [fails('NotPausable')]),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-AWAIT-001',
    'await_resumption',
    'An agent outside the process parks its task',
    [
      ticking,
      get(FIRST, { until: state('WORKING') }),
      {
        do: 'awaitResumption',
        with: { ...TASK, reason: 'waiting on ci', summary: 'Build 7' },
        expect: [
          succeeds,
          is('result.taskId', FIRST),
          is('result.state', 'paused-by-agent'),
          text('result.handle'),
          matches('result.pausedAt', ISO),
        ],
      },
      get(FIRST, { expect: [shows('paused-by-agent')] }),
      end,
    ],
    OURS,
  ),
  must(
    'LULL-AWAIT-002',
    'await_resumption',
    'Only a working task can be parked',
    [
      waiting,
      {
        do: 'awaitResumption',
        with: { ...TASK, reason: 'x' },
        expect: [fails('NotPausable')],
      },
    ],
    OURS,
  ),
  must(
    'LULL-AWAIT-003',
    'await_resumption',
    'A park needs a reason',
    [ticking, { do: 'awaitResumption', with: TASK, expect: [fails('InvalidParams')] }, end],
    OURS,
  ),
]
