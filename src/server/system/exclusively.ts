import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterStore } from '../../ports/store/cluster.ts'

/** How long a process that died in the work keeps the others from it. */
const WORK_MS = 5_000
const RETRY_MS = 20

/** Runs the work while no other process of the cluster runs work of this name. */
export async function exclusively<T>(
  { takeDuty }: Pick<ClusterStore, 'takeDuty'>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const me = randomUUID()
  while (!(await takeDuty(name, me, WORK_MS))) await sleep(RETRY_MS)
  try {
    return await work()
  } finally {
    await takeDuty(name, me, 0)
  }
}
