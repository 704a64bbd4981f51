/** What can be done to a task, and why not. Every button of the dashboard asks here. */
import { isInterrupted, isPaused, isTerminal } from '../../src/core/states.ts'
import { isState } from './looks.ts'
import { who } from './server.ts'
import type { Known } from './tasks.ts'

export type TaskAct = 'pause' | 'resume' | 'cancel' | 'remind' | 'answer'

type Fits = (task: Known) => boolean

const inState = (test: (state: Parameters<typeof isPaused>[0]) => boolean): Fits => {
  return ({ state }) => isState(state) && test(state)
}

/** The states in which an act has a meaning. In the others its button is not there. */
const fits: Readonly<Record<TaskAct, Fits>> = {
  pause: inState((state) => state === 'working' || state === 'submitted'),
  resume: inState(isPaused),
  cancel: inState((state) => !isTerminal(state)),
  remind: inState((state) => !isTerminal(state)),
  answer: inState(isInterrupted),
}

/** Any of these scopes allows it for a task of the reader, and for a task of others. */
const allows: Readonly<
  Record<TaskAct, { readonly own: readonly string[]; readonly all: readonly string[] }>
> = {
  pause: { own: ['tasks:control'], all: ['tasks:control:all', 'ops:control'] },
  resume: { own: ['tasks:control'], all: ['tasks:control:all', 'ops:control'] },
  cancel: { own: ['tasks:write'], all: ['tasks:control:all', 'ops:control'] },
  remind: { own: ['tasks:control'], all: ['tasks:control:all', 'ops:control'] },
  answer: { own: ['tasks:write'], all: ['tasks:answer:all'] },
}

export interface Allowed {
  readonly act: TaskAct
  /** Why the reader may not. */
  readonly refused?: string
}

/** The acts that the state of the task allows, each with the reason why the reader may not. */
export function actsOn(task: Known): Readonly<Partial<Record<TaskAct, Allowed>>> {
  const acts = (Object.keys(fits) as TaskAct[]).filter((act) => fits[act](task))
  return Object.fromEntries(acts.map((act) => [act, { act, ...refusalOf(act, task) }]))
}

function refusalOf(act: TaskAct, task: Known): { readonly refused?: string } {
  const me = who.value
  // A server that does not say who the reader is decides by itself.
  if (me === undefined) return {}
  const { own, all } = allows[act]
  const isOwn = me.principal === task.principal
  const needed = isOwn ? [...own, ...all] : all
  if (needed.some((scope) => me.scopes.includes(scope))) return {}
  return { refused: `Your key lacks ${needed.join(' or ')}.` }
}

/** Whether the reader may do what needs one of these scopes, whatever the task. Undefined: yes. */
export function lacking(...scopes: readonly string[]): string | undefined {
  const me = who.value
  if (me === undefined || scopes.some((scope) => me.scopes.includes(scope))) return undefined
  return `Your key lacks ${scopes.join(' or ')}.`
}
