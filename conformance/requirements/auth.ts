/** A2A v1.0 §7 and §13.1: transport security, authentication, authorisation inside a task. */
import { connect } from 'node:tls'
import {
  fails,
  firstIsTask,
  has,
  is,
  isTask,
  live,
  matches,
  refused,
  sees,
  state,
  succeeds,
} from '../checks.ts'
import type { Case, Step } from '../model.ts'
import { FIRST, get, script, send, subscribe } from '../steps.ts'
import { CARD, must, should } from './define.ts'

/** A script agent asks for authorisation by script, others by the prefix. */
const asking: Step = send(script([{ auth: 'Sign in to the bank' }], {}, 'tck-auth-required'), {
  as: 'first',
  expect: [succeeds],
  assume: [isTask, state('AUTH_REQUIRED')],
})

function tls(base: string): Promise<{ protocol: string | null; trusted: boolean }> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: hostname, port: Number(port || 443), servername: hostname },
      () => {
        resolve({ protocol: socket.getProtocol(), trusted: socket.authorized })
        socket.end()
      },
    )
    socket.on('error', reject)
  })
}

export const AUTH: readonly Case[] = [
  must(
    'AUTH-TLS-001',
    '7.1',
    'The endpoint is encrypted',
    [{ probe: 'a TLS handshake', ask: async ({ base }) => (await tls(base)) && undefined }],
    { ...CARD, needs: ['https'] },
  ),
  should(
    'AUTH-TLS-002',
    '7.1',
    'TLS is 1.2 or newer, best 1.3',
    [
      {
        probe: 'the TLS version',
        ask: async ({ base }) => {
          const { protocol } = await tls(base)
          return /^TLSv1\.[23]$/.test(String(protocol)) ? undefined : String(protocol)
        },
      },
    ],
    { ...CARD, needs: ['https'] },
  ),
  should(
    'AUTH-SERVER-001',
    '7.2',
    'The certificate can be verified',
    [
      {
        probe: 'the certificate chain and name',
        ask: async ({ base }) => ((await tls(base)).trusted ? undefined : 'not trusted'),
      },
    ],
    { ...CARD, needs: ['https'] },
  ),
  must(
    'AUTH-SERVER-002',
    '7.4',
    'A request without credentials is refused',
    [{ do: 'list', with: {}, expect: [refused] }],
    { needs: ['security'] },
  ),
  must('AUTH-INTASK-001', '7.6.1', 'A request for authorisation is a task', [
    asking,
    get(FIRST, { expect: [isTask, is('task.id', FIRST)] }),
  ]),
  must('AUTH-INTASK-002', '7.6.1', 'The task is in AUTH_REQUIRED', [
    asking,
    get(FIRST, { expect: [state('AUTH_REQUIRED')] }),
  ]),
  must('AUTH-INTASK-003', '7.6.1', 'The status explains what is needed', [
    asking,
    get(FIRST, {
      expect: [
        has('task.status.message.parts.0'),
        matches('task.status.message.parts.0.text', /\w/),
        is('task.status.message.role', 'ROLE_AGENT'),
      ],
    }),
  ]),
  must('AUTH-INTASK-004', '7.6.1', 'Credentials come out of band', [], {
    excluded: 'an arrangement outside the protocol: nothing on the wire can show it',
  }),
  should(
    'AUTH-INTASK-005',
    '7.6.1',
    'Streams stay open in AUTH_REQUIRED',
    [
      asking,
      subscribe('one'),
      { read: 'one', until: live, expect: [firstIsTask] },
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds] },
      { read: 'one', until: 'closed', expect: [sees('CANCELED')] },
    ],
    { needs: ['streaming'] },
  ),
  should('AUTH-INTASK-006', '7.6.1', 'Messages are taken in AUTH_REQUIRED', [
    asking,
    send(script([], { taskId: FIRST, parts: [{ text: 'Which bank?' }] }, 'tck-complete-task'), {
      expect: [succeeds],
    }),
  ]),
  must(
    'AUTH-SCOPE-001',
    '13.1',
    'Every operation asks for authorisation',
    [
      { do: 'list', with: {}, expect: [refused] },
      get('any', { expect: [refused] }),
      { do: 'cancel', with: { id: 'any' }, expect: [refused] },
    ],
    { needs: ['security'] },
  ),
  must('AUTH-SCOPE-002', '13.1', 'Results are within the boundaries of the caller', [
    {
      do: 'list',
      with: { contextId: 'a-context-of-nobody' },
      expect: [succeeds, is('result.tasks', [])],
    },
  ]),
  must('AUTH-SCOPE-003', '3.3.2', 'What is not yours looks like what is not there', [
    get('not-yours-or-not-there', { expect: [fails('TaskNotFound')] }),
  ]),
]
