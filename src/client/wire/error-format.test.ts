import { expect, it } from 'vitest'
import { errorOfStatus, readControlError, readError } from './error-format.ts'

const info = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'TASK_NOT_PAUSED',
  domain: 'lull',
  metadata: { state: 'working', cause: 'timeout' },
}
const badRequest = {
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field: 'conditions.timeout', description: 'must be greater than 0' }],
}

it.each([
  [
    'JSON-RPC of 1.0',
    { code: -32011, message: 'no', data: [info] },
    { reason: 'TASK_NOT_PAUSED', code: -32011, details: { state: 'working', cause: 'timeout' } },
  ],
  [
    'REST of 1.0',
    { code: 400, status: 'FAILED_PRECONDITION', message: 'no', details: [info] },
    { reason: 'TASK_NOT_PAUSED', code: undefined },
  ],
  [
    '0.3',
    { code: -32602, message: 'no', data: { reason: 'INVALID_PARAMS', path: 'mode' } },
    { reason: 'INVALID_PARAMS', path: 'mode', code: -32602 },
  ],
  [
    'a violation',
    { code: -32602, message: 'no', data: [badRequest] },
    { reason: 'INVALID_PARAMS', path: 'conditions.timeout' },
  ],
  ['a bare number', { code: -32001, message: 'no' }, { reason: 'TASK_NOT_FOUND', details: {} }],
  ['a word', { code: 'HOST_NOT_ALLOWED', message: 'no' }, { reason: 'HOST_NOT_ALLOWED' }],
  ['nothing at all', {}, { reason: 'UNKNOWN', message: 'The peer gave no reason' }],
])('understands %s', (_, error, meant) => {
  expect(readError(error, 200)).toMatchObject({ kind: 'refused', ...meant })
})

it('knows what the RFCs mean by -32004, where nothing says otherwise', () => {
  expect(readControlError({ code: -32004, message: 'no' }, 200).reason).toBe('TASK_NOT_FOUND')
  const told = { code: -32004, message: 'no', data: { reason: 'UNSUPPORTED_OPERATION' } }
  expect(readControlError(told, 200).reason).toBe('UNSUPPORTED_OPERATION')
})

it.each([
  [401, 'refused', 'UNAUTHENTICATED', false],
  [429, 'refused', 'LIMIT_EXCEEDED', true],
  [502, 'unreachable', 'UNAVAILABLE', true],
])('takes HTTP %i for %s, %s', (status, kind, reason, isTransient) => {
  expect(errorOfStatus(status)).toMatchObject({ kind, reason, isTransient, status })
})

it('says what to do', () => {
  expect(readError({ code: -32001, message: 'no' }, 200).advice).toContain('Check the id')
  expect(readError({ code: -1, message: 'no' }, 200).advice).not.toBe('')
})
