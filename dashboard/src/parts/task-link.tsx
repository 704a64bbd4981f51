import { follow, pathOf } from '../router.ts'

/** The end of an id identifies a task for people. */
const SHORT = 8

export function TaskLink({ taskId }: { readonly taskId: string }) {
  const to = { page: 'task', taskId } as const
  return (
    <a href={pathOf(to)} title={taskId} onClick={(event) => follow(event, to)}>
      task …{taskId.slice(-SHORT)}
    </a>
  )
}
