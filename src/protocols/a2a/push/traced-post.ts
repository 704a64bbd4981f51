/** Wraps a delivery in its own span, which the receiver gets in the header `traceparent`. */

import type { Task } from '../../../core/task.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { toTraceparent } from '../../../core/values/span-link.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { taskAttributes } from '../../../engine/observe/task-attributes.ts'
import type { Delivery, Post } from './post.ts'

export type TracedPost = (
  task: Task,
  delivery: Delivery,
  confirm: () => Promise<void>,
) => Promise<void>

export function tracedPost(post: Post, tracing: EngineDeps['tracing']): TracedPost {
  return async (task, delivery, confirm) => {
    const span = tracing?.start('push', {
      kind: 'client',
      parent: task.trace,
      attributes: taskAttributes(task),
    })
    if (span === undefined) return post(delivery, confirm)
    try {
      const headers = { ...delivery.headers, traceparent: toTraceparent(span.link) }
      await span.during(() => post({ ...delivery, headers }, confirm))
    } catch (error) {
      span.fail(describeError(error).name)
      throw error
    } finally {
      span.end()
    }
  }
}
