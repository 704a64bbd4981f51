/** A2A v1.0 §3.6: versions. */
import { check, fails, has, is, shaped, succeeds } from '../checks.ts'
import type { Case } from '../model.ts'
import { send, user } from '../steps.ts'
import { at, list, show } from '../values.ts'
import { CARD, JSONRPC, must, should } from './define.ts'

const V03_SEND = {
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: {
    message: {
      kind: 'message',
      messageId: 'tck-complete-task-{new.id}',
      role: 'user',
      parts: [{ kind: 'text', text: 'tck-complete-task' }],
    },
    configuration: { blocking: true },
  },
}

export const VERSIONS: readonly Case[] = [
  must(
    'VER-SERVER-001',
    '3.6.2',
    'A request is answered in the version it asks for',
    [
      send(user('tck-complete-task'), {
        version: '1.0',
        expect: [succeeds, has('body.result.task')],
      }),
      send(user('tck-complete-task'), {
        version: '0.3',
        expect: [succeeds, is('body.result.kind', 'task')],
      }),
    ],
    { ...JSONRPC, needs: ['both-versions'] },
  ),
  must('VER-SERVER-002', '3.6.2', 'An unknown version is VersionNotSupported', [
    send(user('tck-complete-task'), {
      headers: { 'a2a-version': '99.0' },
      expect: [fails('VersionNotSupported')],
    }),
  ]),
  must(
    'VER-SERVER-003',
    '3.6.2',
    'An empty version means 0.3',
    [
      {
        http: {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '' },
          body: V03_SEND,
        },
        expect: [shaped('SendMessageResponse', 'body.result'), is('body.result.kind', 'task')],
      },
    ],
    { ...JSONRPC, versions: ['0.3'] },
  ),
  must('VER-CLIENT-001', '3.6.1', 'Clients send A2A-Version', [], {
    ...JSONRPC,
    excluded: "a duty of clients; the runner's own 1.0 requests carry it",
  }),
  must('VER-CLIENT-002', '3.6', 'Patch digits do not matter', [
    send(user('tck-complete-task'), { headers: { 'a2a-version': '1.0.1' }, expect: [succeeds] }),
    send(user('tck-complete-task'), { headers: { 'a2a-version': '1.0.99' }, expect: [succeeds] }),
  ]),
  must(
    'VER-CLIENT-002',
    '3.6',
    'The card names versions without patch digits',
    [
      {
        http: {
          method: 'GET',
          origin: true,
          path: '/.well-known/agent-card.json',
          headers: { 'a2a-version': '1.0' },
        },
        expect: [
          check('Major.Minor', (got) => {
            const all = list(at(got.body, 'supportedInterfaces'))
            const versions = all.map((item) => String(at(item, 'protocolVersion')))
            return versions.every((version) => /^\d+\.\d+$/.test(version))
              ? undefined
              : show(versions)
          }),
        ],
      },
    ],
    { ...CARD, variant: 'card' },
  ),
  should(
    'SPEC-VER-QUERY',
    '3.6.1',
    'The version may be a query parameter',
    [
      {
        http: {
          method: 'POST',
          path: '/?A2A-Version=1.0',
          headers: { 'content-type': 'application/json' },
          body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} },
        },
        expect: [succeeds, has('body.result.tasks')],
      },
    ],
    JSONRPC,
  ),
]
