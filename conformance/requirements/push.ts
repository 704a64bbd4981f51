/** A2A v1.0 §3.1.7–§3.1.10 and §4.3.3: push configurations and their deliveries. */
import { check, fails, has, is, matches, refused, shaped, succeeds, text } from '../checks.ts'
import type { Case, Step } from '../model.ts'
import { answer, FIRST, send, user, waiting } from '../steps.ts'
import { at, list, show } from '../values.ts'
import { must, PUSH } from './define.ts'

const AUTHENTICATION = { scheme: 'Bearer', credentials: 'conformance-secret' }

const configured: readonly Step[] = [
  waiting,
  { receiver: 'hook' },
  {
    do: 'pushCreate',
    with: { taskId: FIRST, url: '$hook.url', authentication: AUTHENTICATION },
    as: 'config',
    expect: [succeeds, text('result.id'), is('result.url', '$hook.url')],
  },
]
const ID = '$config.result.id'
const THIS = { taskId: FIRST, id: ID }

const aboutTheEnd = check('the delivery that says the task has completed', (got) =>
  show(got.body).includes('COMPLETED') || show(got.body).includes('completed')
    ? undefined
    : show(got.body),
)

const lists = (says: string, wanted: boolean) =>
  check(`the list ${says}`, (got, { vars }) => {
    const ids = list(at(got, 'result.configs')).map((config) => at(config, 'id'))
    return ids.includes(at(vars, 'config.result.id')) === wanted ? undefined : show(ids)
  })

const both = { ...PUSH, versions: ['1.0', '0.3'] } as const

export const PUSHES: readonly Case[] = [
  must('PUSH-CREATE-001', '3.1.7', 'A configuration can be created', configured, both),
  must(
    'PUSH-CREATE-001',
    '3.1.7',
    'The answer is the whole configuration',
    [...configured, { do: 'pushGet', with: THIS, expect: [shaped('PushConfig', 'result')] }],
    { ...PUSH, variant: 'shape' },
  ),
  must(
    'PUSH-CREATE-002',
    '3.1.7',
    'A configuration stays while the task lives',
    [
      ...configured,
      answer('tck-input-required', { expect: [succeeds] }),
      { do: 'pushGet', with: THIS, expect: [succeeds, is('result.url', '$hook.url')] },
    ],
    both,
  ),
  must(
    'PUSH-GET-001',
    '3.1.8',
    'Get answers with address and settings',
    [
      ...configured,
      {
        do: 'pushGet',
        with: THIS,
        expect: [
          succeeds,
          is('result.id', ID),
          is('result.url', '$hook.url'),
          is('result.taskId', FIRST),
          is('result.authentication.scheme', 'Bearer'),
        ],
      },
    ],
    both,
  ),
  must(
    'PUSH-GET-002',
    '3.1.8',
    'Get of a configuration that is not there fails',
    [waiting, { do: 'pushGet', with: { taskId: FIRST, id: 'no-such-config' }, expect: [refused] }],
    both,
  ),
  must(
    'PUSH-LIST-001',
    '3.1.9',
    'List answers with every configuration of the task',
    [
      ...configured,
      {
        do: 'pushCreate',
        with: { taskId: FIRST, id: 'second-config', url: '{hook.url}/second' },
        expect: [succeeds],
      },
      {
        do: 'pushList',
        with: { taskId: FIRST },
        expect: [
          succeeds,
          lists('names the first', true),
          check('two configurations', (got) =>
            list(at(got, 'result.configs')).length === 2 ? undefined : show(got.result),
          ),
        ],
      },
    ],
    both,
  ),
  must(
    'PUSH-DEL-001',
    '3.1.10',
    'Delete removes the configuration',
    [
      ...configured,
      { do: 'pushDelete', with: THIS, expect: [succeeds] },
      { do: 'pushGet', with: THIS, expect: [refused] },
      { do: 'pushList', with: { taskId: FIRST }, expect: [lists('is without it', false)] },
    ],
    both,
  ),
  must(
    'PUSH-DEL-002',
    '3.1.10',
    'Delete can be repeated',
    [
      ...configured,
      { do: 'pushDelete', with: THIS, expect: [succeeds] },
      { do: 'pushDelete', with: THIS, expect: [succeeds] },
    ],
    both,
  ),
  must(
    'PUSH-DELIVER-001',
    '4.3.3',
    'A delivery carries the credentials of the configuration',
    [
      ...configured,
      answer('tck-complete-task', { expect: [succeeds] }),
      {
        delivered: 'hook',
        until: aboutTheEnd,
        expect: [is('headers.authorization', 'Bearer conformance-secret')],
      },
    ],
    both,
  ),
  must(
    'PUSH-DELIVER-002',
    '4.3.3',
    'Every configured webhook is tried',
    [
      ...configured,
      { receiver: 'other' },
      {
        do: 'pushCreate',
        with: { taskId: FIRST, id: 'other-config', url: '$other.url' },
        expect: [succeeds],
      },
      answer('tck-complete-task', { expect: [succeeds] }),
      { delivered: 'hook', until: aboutTheEnd },
      { delivered: 'other', until: aboutTheEnd },
    ],
    both,
  ),
  must(
    'PUSH-DELIVER-002',
    '4.3.3',
    'A webhook named in the send is tried',
    [
      { receiver: 'hook' },
      send(
        user('tck-stream-001'),
        { expect: [succeeds] },
        { taskPushNotificationConfig: { url: '$hook.url', token: 'the-token' } },
      ),
      { delivered: 'hook', until: aboutTheEnd },
    ],
    { ...both, variant: 'in-send' },
  ),
  must(
    'PUSH-DELIVER-003',
    '4.3.3',
    'The body of a delivery is a StreamResponse',
    [
      ...configured,
      answer('tck-stream-001', { expect: [succeeds] }),
      {
        delivered: 'hook',
        until: aboutTheEnd,
        expect: [
          matches('headers.content-type', /^application\/(a2a\+)?json/),
          shaped('StreamResponse', 'body'),
        ],
      },
    ],
    PUSH,
  ),
  must(
    'PUSH-CREATE-001',
    '3.1.7',
    'A configuration for an unknown task is TaskNotFound',
    [
      {
        do: 'pushCreate',
        with: { taskId: 'a-task-that-was-never-created', url: 'http://127.0.0.1:9/hook' },
        expect: [fails('TaskNotFound')],
      },
      { do: 'pushList', with: { taskId: 'a-task-that-was-never-created' }, expect: [refused] },
    ],
    { ...both, variant: 'unknown-task' },
  ),
  must(
    'PUSH-CREATE-001',
    '3.1.7',
    'A configuration without an address is refused',
    [waiting, { do: 'pushCreate', with: { taskId: FIRST }, expect: [refused, has('error')] }],
    { ...PUSH, variant: 'no-url' },
  ),
]
