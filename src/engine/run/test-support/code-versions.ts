/** Generated pairs of code versions: steps added, removed, reordered and renamed, in sequence, in branches and inside steps. */
import fc from 'fast-check'
import type { Agent } from '../../author/agent.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { running } from '../../test-support/engine-harness.ts'

export type Item =
  | { readonly kind: 'step'; readonly name: string }
  | { readonly kind: 'outer'; readonly name: string; readonly inner: readonly Item[] }
  | { readonly kind: 'parallel'; readonly branches: readonly (readonly Item[])[] }
  | { readonly kind: 'park' }
export type Code = readonly Item[]

export type Shape = number | { readonly inside: number } | readonly number[]

/** Every step has a name of its own: `s` in the first version. */
export function codeOf(shapes: readonly Shape[], parkAt: number | undefined): Code {
  let count = 0
  const step = (): Item => ({ kind: 'step', name: `s${count++}` })
  const steps = (length: number): Item[] => Array.from({ length }, step)
  const items = shapes.flatMap((shape): Item[] => {
    if (typeof shape === 'number') return steps(shape)
    if ('inside' in shape) {
      return [{ kind: 'outer', name: `o${count++}`, inner: steps(shape.inside) }]
    }
    return [{ kind: 'parallel', branches: shape.map(steps) }]
  })
  return parkAt === undefined ? items : items.toSpliced(parkAt, 0, { kind: 'park' })
}

export interface Edit {
  readonly what: 'add' | 'remove' | 'rename' | 'swap'
  /** Which list of the code, and where in it. */
  readonly list: number
  readonly at: number
}

export function edited(code: Code, { what, list, at }: Edit, number: number): Code {
  let seen = 0
  const lists = listsOf(code).length
  const edit = (items: Code): Code => {
    const here = seen++ === list % lists ? change(items, what, at, number) : items
    return here.map((item): Item => {
      if (item.kind === 'outer') return { ...item, inner: edit(item.inner) }
      if (item.kind === 'parallel') return { ...item, branches: item.branches.map(edit) }
      return item
    })
  }
  return edit(code)
}

function change(items: Code, what: Edit['what'], at: number, number: number): Code {
  const index = at % Math.max(1, items.length)
  const item = items[index]
  const next = items[index + 1]
  if (what === 'add') return items.toSpliced(at % (items.length + 1), 0, named(`new${number}`))
  if (item?.kind !== 'step') return items
  if (what === 'remove') return items.toSpliced(index, 1)
  if (what === 'rename') return items.with(index, named(`renamed${number}`))
  return next?.kind === 'step' ? items.with(index, next).with(index + 1, item) : items
}

const named = (name: string): Item => ({ kind: 'step', name })

function listsOf(code: Code): readonly Code[] {
  const inside = code.flatMap((item) => {
    if (item.kind === 'outer') return listsOf(item.inner)
    return item.kind === 'parallel' ? item.branches.flatMap(listsOf) : []
  })
  return [code, ...inside]
}

export function pathsOf(code: Code, outer = ''): readonly string[] {
  return code.flatMap((item) => {
    if (item.kind === 'parallel') return item.branches.flatMap((branch) => pathsOf(branch, outer))
    if (item.kind === 'outer') return pathsOf(item.inner, `${outer}${item.name}/`)
    return item.kind === 'step' ? [`${outer}${item.name}`] : []
  })
}

/** @param ran gets the path of each step that runs */
export function agentOf(code: Code, hangs: ReadonlySet<string>, ran: string[]): Agent {
  const perform = async (task: AgentTask, items: Code, outer: string): Promise<void> => {
    for (const item of items) {
      if (item.kind === 'park') await task.park({ reason: 'x' })
      else if (item.kind === 'parallel') {
        await Promise.all(item.branches.map((branch) => perform(task, branch, outer)))
      } else if (item.kind === 'outer') {
        await task.step(item.name, () => perform(task, item.inner, `${outer}${item.name}/`))
      } else {
        await task.step(item.name, async () => {
          if (hangs.has(item.name)) await new Promise(() => undefined)
          ran.push(`${outer}${item.name}`)
        })
      }
    }
  }
  return running((task) => perform(task, code, ''))
}

export const shape: fc.Arbitrary<Shape> = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.record({ inside: fc.integer({ min: 1, max: 3 }) }),
  fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 }),
)
export const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom('add', 'remove', 'rename', 'swap'),
  list: fc.nat({ max: 5 }),
  at: fc.nat({ max: 5 }),
})

/** It parks at a place, or dies while some steps hang. */
export interface Stop {
  readonly parkAt?: number
  readonly hangs: readonly number[]
}
export const stop: fc.Arbitrary<Stop> = fc.oneof(
  fc.nat({ max: 4 }).map((parkAt) => ({ parkAt, hangs: [] })),
  fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 3 }).map((hangs) => ({ hangs })),
)
