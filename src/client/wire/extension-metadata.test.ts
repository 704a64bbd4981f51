import { expect, it } from 'vitest'
import { readExtendedState, readState, toWireState } from './extension-metadata.ts'

const control = 'urn:lull:a2a:task-control:1'
const consent = 'urn:lull:a2a:user-consent:1'

it.each([
  ['TASK_STATE_WORKING', {}, 'working'],
  ['TASK_STATE_WORKING', { [control]: { state: 'paused-by-agent' } }, 'paused-by-agent'],
  ['TASK_STATE_WORKING', { [control]: { state: 'active' } }, 'working'],
  ['TASK_STATE_WORKING', { [control]: { state: 'completed' } }, 'working'],
  ['TASK_STATE_COMPLETED', { [control]: { state: 'paused-by-client' } }, 'completed'],
  [
    'TASK_STATE_AUTH_REQUIRED',
    { [consent]: { state: 'user-consent-required' } },
    'user-consent-required',
  ],
  ['TASK_STATE_AUTH_REQUIRED', { [consent]: { state: 'active' } }, 'auth-required'],
  ['paused-by-client', {}, 'paused-by-client'],
  ['TASK_STATE_CANCELLED', {}, 'canceled'],
  ['working', { harn: { pause: { state: 'paused', handle: 'h' } } }, 'paused-by-client'],
  [
    'working',
    { harn: { pause: { state: 'paused', handle: 'h', initiator: 'agent' } } },
    'paused-by-agent',
  ],
  ['suspended', {}, 'unknown'],
])('%s with %j is %s', (state, metadata, meant) => {
  expect(readState(state, metadata)).toBe(meant)
})

it.each([
  ['paused-by-client', 'TASK_STATE_WORKING'],
  ['user-consent-required', 'TASK_STATE_AUTH_REQUIRED'],
  ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
] as const)('%s is asked for as %s', (state, wire) => {
  expect(toWireState(state)).toBe(wire)
})

it('reads the stop of a peer that tells it under harn.pause', () => {
  const pause = {
    state: 'paused-by-agent',
    handle: 'suspend-1',
    reason: 'ci',
    initiator: 'agent',
    suspended_at_ms: 0,
    resume_when: { on_event: 'ci.done', timeout: { duration_minutes: 5, on_timeout: 'fail' } },
  }
  expect(readExtendedState('paused-by-agent', { harn: { pause } })).toEqual({
    suspension: {
      handle: 'suspend-1',
      pausing: false,
      initiator: 'agent',
      reason: 'ci',
      pausedAt: '1970-01-01T00:00:00.000Z',
      conditions: { onEvent: 'ci.done', timeout: { durationMinutes: 5, onTimeout: 'fail' } },
    },
  })
})

it('is not impressed by nonsense in the metadata', () => {
  const harn = { pause: { state: 'paused', handle: 'h', suspended_at_ms: 1e300 } }
  expect(readExtendedState('paused-by-client', { harn }).suspension?.pausedAt).toBeUndefined()
  expect(readExtendedState('paused-by-client', { [control]: 'yes' })).toEqual({})
  expect(readExtendedState('user-consent-required', { [consent]: { consentId: 7 } })).toEqual({})
})
