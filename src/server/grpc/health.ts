/** `grpc.health.v1.Health`: whether the server accepts work, for load balancers and supervisors that speak gRPC. */
import type { Message } from '@bufbuild/protobuf'
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect'
import {
  A2A_SERVICE,
  HEALTH_SERVICE,
  jsonOf,
  messageFrom,
  methodNamed,
  TASK_CONTROL_SERVICE,
} from '../../wire/grpc/messages.ts'

const services: readonly unknown[] = ['', A2A_SERVICE, TASK_CONTROL_SERVICE]

type Status = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

export interface HealthSource {
  readonly isReady: () => Promise<boolean>
  readonly after: (ms: number, callback: () => void) => () => void
}

/** How often a watcher's status is determined anew. */
const WATCH_MS = 5_000

export function addHealth(router: ConnectRouter, { isReady, after }: HealthSource): void {
  const check = methodNamed(HEALTH_SERVICE, 'Check', 'unary')
  const watch = methodNamed(HEALTH_SERVICE, 'Watch', 'server_streaming')
  const list = methodNamed(HEALTH_SERVICE, 'List', 'unary')

  async function statusOf(request: Message): Promise<Status> {
    const { service = '' } = jsonOf(check.input, request)
    if (!services.includes(service)) return 'SERVICE_UNKNOWN'
    return serving()
  }

  async function serving(): Promise<Status> {
    return (await isReady()) ? 'SERVING' : 'NOT_SERVING'
  }

  router.rpc(check, async (request) => {
    const status = await statusOf(request)
    if (status === 'SERVICE_UNKNOWN') throw new ConnectError('Unknown service', Code.NotFound)
    return messageFrom(check.output, { status })
  })
  router.rpc(list, async () => {
    const status = await serving()
    return messageFrom(list.output, {
      statuses: Object.fromEntries(services.map((name) => [name, { status }])),
    })
  })
  router.rpc(watch, async function* (request, { signal }) {
    let told: Status | undefined
    while (!signal.aborted) {
      const status = await statusOf(request)
      if (status !== told) yield messageFrom(watch.output, { status })
      told = status
      await pause(after, signal)
    }
  })
}

function pause(after: HealthSource['after'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      cancel()
      signal.removeEventListener('abort', settle)
      resolve()
    }
    const cancel = after(WATCH_MS, settle)
    signal.addEventListener('abort', settle)
  })
}
