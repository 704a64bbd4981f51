/** A2A v1.0 §4.1 and §5.5–§5.7: the objects and their JSON. */
import { check, has, is, isTask, keysOf, shaped, state, succeeds } from '../checks.ts'
import type { Case, Outcome } from '../model.ts'
import { STATES_V1 } from '../shapes.ts'
import { completed, FIRST, get, send, user, waiting } from '../steps.ts'
import { at, entries, list, show } from '../values.ts'
import { must, should } from './define.ts'

const withArtifact = send(user('tck-artifact-text'), {
  as: 'first',
  assume: [isTask, state('COMPLETED')],
})
const list1 = { do: 'list', with: { contextId: '$first.task.contextId' } } as const

/** Every value under the key, at any depth. */
function under(value: unknown, key: string): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => under(item, key))
  return entries(value).flatMap(([name, inner]) =>
    name === key ? [inner, ...under(inner, key)] : under(inner, key),
  )
}

function all(key: string, says: string, test: (value: unknown) => boolean) {
  return check(`every ${key} ${says}`, (got: Outcome) => {
    const found = under(got.result, key)
    if (found.length === 0) return `no ${key} at all`
    const wrong = found.find((value) => !test(value))
    return wrong === undefined ? undefined : show(wrong)
  })
}

export const DATA_MODEL: readonly Case[] = [
  must('DM-TASK-001', '4.1.1', 'A task has id and status', [
    completed,
    get(FIRST, { expect: [has('task.id', 'task.status'), shaped('Task', 'task')] }),
  ]),
  must('DM-TASK-002', '4.1.3', 'States are the defined ones', [
    completed,
    waiting,
    {
      do: 'list',
      with: {},
      expect: [
        succeeds,
        check('every state is known', (got) => {
          const known: readonly unknown[] = STATES_V1
          const states = list(at(got, 'result.tasks')).map((task) => at(task, 'status.state'))
          const wrong = states.find((name) => !known.includes(name))
          return states.length > 0 && wrong === undefined ? undefined : show(wrong)
        }),
      ],
    },
  ]),
  must('DM-STATUS-001', '4.1.2', 'A status has a state', [
    completed,
    get(FIRST, { expect: [has('task.status.state'), shaped('TaskStatus', 'task.status')] }),
  ]),
  must('DM-MSG-001', '4.1.4', 'A message has id, role and parts', [
    send(user('tck-message-response'), {
      assume: [has('message')],
      expect: [shaped('Message', 'message')],
    }),
  ]),
  must('DM-MSG-002', '4.1.5', 'The role of an answer is agent', [
    send(user('tck-message-response'), {
      assume: [has('message')],
      expect: [is('message.role', 'ROLE_AGENT')],
    }),
  ]),
  must(
    'DM-PART-001',
    '4.1.6',
    'A part holds exactly one kind of content',
    ['tck-artifact-text', 'tck-artifact-file', 'tck-artifact-file-url', 'tck-artifact-data'].map(
      (prefix) =>
        send(user(prefix), {
          assume: [isTask, has('task.artifacts.0.parts.0')],
          expect: [shaped('Part', 'task.artifacts.0.parts.0')],
        }),
    ),
  ),
  must('DM-ART-001', '4.1.7', 'An artifact has id and parts', [
    { ...withArtifact, expect: [shaped('Artifact', 'task.artifacts.0')] },
  ]),
  must('DM-SERIAL-001', '5.5', 'Names are camelCase', [
    withArtifact,
    get(FIRST, {
      expect: [
        check('no name has an underscore', (got) => {
          const wrong = keysOf(got.result).find((key) => key.includes('_'))
          return wrong === undefined ? undefined : wrong
        }),
      ],
    }),
  ]),
  must('DM-SERIAL-002', '5.5', 'Enums are their names', [
    withArtifact,
    get(FIRST, {
      expect: [
        all('state', 'is a TASK_STATE_ name', (value) =>
          /^TASK_STATE_[A-Z_]+$/.test(String(value)),
        ),
        all('role', 'is a ROLE_ name', (value) => /^ROLE_[A-Z]+$/.test(String(value))),
      ],
    }),
  ]),
  must('DM-SERIAL-003', '5.6.1', 'Timestamps are UTC with Z', [
    withArtifact,
    {
      ...list1,
      expect: [
        all('timestamp', 'ends in Z', (value) =>
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value)),
        ),
      ],
    },
  ]),
  must('DM-SERIAL-004', '5.7', 'Required fields are there, required arrays are not empty', [
    withArtifact,
    get(FIRST, { expect: [shaped('Task', 'task')] }),
    { ...list1, expect: [has('result.tasks.0'), shaped('Task', 'result.tasks.0')] },
  ]),
  should('DM-SERIAL-005', '5.7', 'Unknown fields are ignored', [
    {
      do: 'send',
      with: {
        message: { ...user('tck-complete-task'), aFieldOfTomorrow: { deep: [1] } },
        configuration: { anotherOne: true },
        andOneMore: 'x',
      },
      expect: [succeeds],
    },
  ]),
]
