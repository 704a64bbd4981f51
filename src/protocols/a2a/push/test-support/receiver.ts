/** A receiver of webhooks, and a task that has one. For tests only. */
import { scripted, type TestServer } from '../../test-support/test-server.ts'
import type { Delivery } from '../post.ts'

export interface Receiver {
  readonly got: Delivery[]
  answer: (delivery: Delivery) => Promise<void>
}

export const url = 'https://example.com/hook'

export function receiver(): Receiver & { readonly post: (delivery: Delivery) => Promise<void> } {
  const got: Delivery[] = []
  const it = {
    got,
    answer: async () => undefined,
    async post(delivery: Delivery) {
      await it.answer(delivery)
      got.push(delivery)
    },
  } as Receiver & { post: (delivery: Delivery) => Promise<void> }
  return it
}

export const settle = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
}

export const told = ({ got }: Receiver): readonly string[] =>
  got.map(({ body }) => {
    const { task, statusUpdate, artifactUpdate } = JSON.parse(body)
    if (artifactUpdate !== undefined) return `artifact ${artifactUpdate.artifact.name}`
    const { status } = task ?? statusUpdate
    return `${task === undefined ? '' : 'task '}${status.state.replace('TASK_STATE_', '')}`
  })

export async function send(
  testServer: TestServer,
  ops: readonly unknown[],
  target: object = { url },
): Promise<string> {
  const configuration = { taskPushNotificationConfig: target }
  const { task } = await testServer.ok('1.0', 'SendMessage', {
    message: scripted('1.0', ops),
    configuration,
  })
  return task.id
}
