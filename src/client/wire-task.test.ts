import { expect, it } from 'vitest'
import { stateOf, toWireState } from './wire-task.ts'

const control = 'urn:lull:a2a:task-control:1'
const consent = 'urn:lull:a2a:user-consent:1'

it.each([
  ['TASK_STATE_WORKING', {}, 'working'],
  ['TASK_STATE_WORKING', { [control]: { state: 'paused-by-agent' } }, 'paused-by-agent'],
  ['TASK_STATE_WORKING', { [control]: { state: 'active' } }, 'working'],
  ['TASK_STATE_COMPLETED', { [control]: { state: 'paused-by-client' } }, 'completed'],
  [
    'TASK_STATE_AUTH_REQUIRED',
    { [consent]: { state: 'user-consent-required' } },
    'user-consent-required',
  ],
  ['TASK_STATE_AUTH_REQUIRED', { [consent]: { state: 'active' } }, 'auth-required'],
])('%s with %j is %s', (state, metadata, meant) => {
  expect(stateOf({ status: { state }, metadata })).toBe(meant)
})

it.each([
  ['paused-by-client', 'TASK_STATE_WORKING'],
  ['user-consent-required', 'TASK_STATE_AUTH_REQUIRED'],
  ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
] as const)('%s is asked for as %s', (state, wire) => {
  expect(toWireState(state)).toBe(wire)
})
