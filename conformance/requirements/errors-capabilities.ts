/** A2A v1.0 §3.3.2 and §3.3.4: refusals, and what happens with capabilities the card does not declare. */
import { fails, has, matches, refused, succeeds } from '../checks.ts'
import type { Case, Json } from '../model.ts'
import { ABSENT_ID, FIRST, get, send, user, waiting } from '../steps.ts'
import { JSONRPC, must } from './define.ts'

/** What is wrong with a message, by name: each must be refused before anything happens. */
const WRONG_MESSAGES: Readonly<Record<string, Json>> = {
  'no message id': { role: 'ROLE_USER', parts: [{ text: 'x' }] },
  'no parts': { messageId: 'm-{new.id}', role: 'ROLE_USER' },
  'no role': { messageId: 'm-{new.id}', parts: [{ text: 'x' }] },
  'parts not an array': { messageId: 'm-{new.id}', role: 'ROLE_USER', parts: 'x' },
  'message not an object': 'x',
}

export const ERRORS_CAPABILITIES: readonly Case[] = [
  must('CORE-ERR-001', '3.3.2', 'An error says what is wrong', [
    get(ABSENT_ID, { expect: [refused, has('error.code'), matches('error.message', /\w{3}/)] }),
  ]),
  must(
    'CORE-ERR-001',
    '3.3.2',
    'An unknown method is refused with code and message',
    [
      {
        http: {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
          body: { jsonrpc: '2.0', id: 7, method: 'NonExistentMethod', params: {} },
        },
        expect: [fails('MethodNotFound'), has('error.message')],
      },
    ],
    { ...JSONRPC, variant: 'method' },
  ),
  must('CORE-ERR-002', '3.3.2', 'A send without a message is refused', [
    { do: 'send', with: {}, expect: [refused, fails('InvalidParams')] },
  ]),
  ...Object.entries(WRONG_MESSAGES).map(([name, message]) =>
    must(
      'CORE-ERR-002',
      '3.3.2',
      `A message with ${name} is refused`,
      [{ do: 'send', with: { message }, expect: [fails('InvalidParams')] }],
      { variant: name.replaceAll(' ', '-') },
    ),
  ),
  must(
    'CORE-CAP-001',
    '3.3.4',
    'Push operations are refused when the card does not declare push',
    [
      waiting,
      {
        do: 'pushCreate',
        with: { taskId: FIRST, url: 'https://example.com/hook' },
        expect: [fails('PushNotificationNotSupported')],
      },
      {
        do: 'pushList',
        with: { taskId: FIRST },
        expect: [fails('PushNotificationNotSupported')],
      },
    ],
    { needs: ['no-push'] },
  ),
  must(
    'CORE-CAP-002',
    '3.3.4',
    'Streaming operations are refused when the card does not declare streaming',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [fails('UnsupportedOperation')],
      },
      waiting,
      { do: 'subscribe', with: { id: FIRST }, expect: [fails('UnsupportedOperation')] },
    ],
    { needs: ['no-streaming'] },
  ),
  must(
    'CORE-CAP-003',
    '3.3.4',
    'The extended card is refused when the card does not declare one',
    [
      {
        do: 'extendedCard',
        expect: [fails('UnsupportedOperation')],
      },
    ],
    { needs: ['no-extended-card'] },
  ),
  must(
    'CORE-CAP-004',
    '3.3.4',
    'A send without a required extension is refused',
    [
      send(user('tck-complete-task'), { expect: [fails('ExtensionSupportRequired')] }),
      send(user('tck-complete-task'), {
        headers: { 'a2a-extensions': 'urn:a2a:tck:required-extension' },
        expect: [succeeds],
      }),
    ],
    { needs: ['required-extension'] },
  ),
]
