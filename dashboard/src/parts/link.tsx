import type { ComponentChildren } from 'preact'
import { follow, type Place, pathOf } from '../router.ts'

/** A link to another place of the dashboard, which does not load the page again. */
export function Link({
  to,
  class: look,
  current,
  title,
  children,
}: {
  readonly to: Place
  readonly class?: string
  /** It leads to where the reader is. */
  readonly current?: boolean | 'page'
  readonly title?: string
  readonly children: ComponentChildren
}) {
  return (
    <a
      href={pathOf(to)}
      class={look}
      title={title}
      aria-current={current === true ? 'true' : current || undefined}
      onClick={(event) => follow(event, to)}
    >
      {children}
    </a>
  )
}

/** The end of an id identifies a task for people. */
const SHORT = 8

export function TaskLink({ taskId }: { readonly taskId: string }) {
  return (
    <Link to={{ page: 'task', taskId }} title={taskId}>
      task …{taskId.slice(-SHORT)}
    </Link>
  )
}
