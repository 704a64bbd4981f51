import { expect, it } from 'vitest'
import type { Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import { pauseAnswer } from './pause-task.ts'

type Stopped = Pick<Task, 'id' | 'state' | 'suspension' | 'pausing' | 'abandoned'>

const stop = (initiator: Suspension['initiator']): Suspension => ({
  handle: `suspend-by-${initiator}`,
  epoch: 1,
  initiator,
  actor: { kind: initiator, id: 'x' },
  requestedAt: 1,
  pausedAt: 2,
  pausedFrom: 'working',
  eventsAfter: 0,
})

const answer = (task: Stopped, asked: Suspension['initiator']) => pauseAnswer(task as Task, asked)

it('describes the stop that was asked for', () => {
  const paused: Stopped = {
    id: 't',
    abandoned: [],
    state: 'paused-by-client',
    suspension: stop('client'),
  }
  expect(answer(paused, 'client')).toMatchObject({ handle: 'suspend-by-client', pausedAt: 2 })
  const parked: Stopped = {
    id: 't',
    abandoned: [],
    state: 'paused-by-agent',
    suspension: stop('agent'),
  }
  expect(answer(parked, 'agent')).toMatchObject({ handle: 'suspend-by-agent' })
  const pausing: Stopped = { id: 't', abandoned: [], state: 'working', pausing: stop('client') }
  expect(answer(pausing, 'client')).toMatchObject({ pausing: true })
})

it("does not call the agent's park the pause of a client that was resumed before it committed", () => {
  const parked: Stopped = {
    id: 't',
    abandoned: [],
    state: 'paused-by-agent',
    suspension: stop('agent'),
  }
  expect(() => answer(parked, 'client')).toThrow('it was resumed before it stopped')
})

it('refuses when the task has ended or works again', () => {
  expect(() => answer({ id: 't', abandoned: [], state: 'completed' }, 'client')).toThrow(
    'it is completed',
  )
  expect(() => answer({ id: 't', abandoned: [], state: 'working' }, 'client')).toThrow(
    'it was resumed',
  )
})
