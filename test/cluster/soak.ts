/** A cluster under faults: customers with tasks, somebody who breaks things, and a judge. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { startProxy } from '../../src/stores/postgres/test-support/proxy.ts'
import { startPostgres } from '../../src/stores/postgres/test-support/server.ts'
import { atOnce } from './at-once.ts'
import { createCalls } from './calls.ts'
import { type Account, attend, type Cluster } from './customer.ts'
import { breakThings, type Fault } from './faults.ts'
import { judge, type Verdict } from './judge.ts'
import { type LostLease, startProcesses } from './processes.ts'
import { replay } from './reader.ts'

/** How many streams are read at a time, after the tasks have ended. */
const READERS = 16

export interface SoakOptions {
  readonly seed: number
  readonly processes: number
  /** How much the clock of each process shows more than that of the machine. */
  readonly skews?: readonly number[]
  /** Whether the clocks of the processes are set now and then. */
  readonly steps?: boolean
  /** Another build of the program, which every second process runs. */
  readonly older?: string | undefined
  /** How many tasks there are at a time. */
  readonly customers: number
  /** Whether another task begins, by how many have begun and how many faults there were. */
  readonly goesOn: (begun: number, broke: number) => boolean
  /** What is broken, one after the other, until the tasks have ended. */
  readonly faults: readonly Fault[]
}

export interface Aftermath extends Verdict {
  readonly accounts: readonly Account[]
  readonly lost: readonly LostLease[]
  /** How often each fault happened. */
  readonly broken: Readonly<Partial<Record<Fault, number>>>
}

export async function soak(options: SoakOptions): Promise<Aftermath> {
  const { seed, customers, goesOn, faults } = options
  const home = mkdtempSync(join(tmpdir(), 'lull-soak-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const database = await startPostgres()
  onTestFinished(database.remove)
  const { url: postgres } = database
  const proxy = await startProxy(postgres)
  const begunAt = Date.now()
  const { processes: count, skews, steps, older } = options
  const processes = await startProcesses({ home, postgres: proxy.url, count, skews, steps, older })
  onTestFinished(processes.end)
  const cluster: Cluster = { seed, processes, calls: createCalls(processes) }

  const breaking = breakThings({ seed, processes, database, proxy, faults })
  const accounts: Account[] = []
  let begun = 0
  async function serve(): Promise<void> {
    while (goesOn(begun, breaking.count())) accounts.push(await attend(cluster, begun++))
  }
  await Promise.all(Array.from({ length: customers }, serve))
  const broken = await breaking.stop()

  const streams = await faultsOfStreams(accounts, processes.url(0))
  cluster.calls.close()
  await processes.end()
  const store = await createPostgresStore({ url: postgres })
  try {
    const { outages, realTime } = processes
    const lost = await processes.lostLeases()
    const verdict = await judge({ home, store, accounts, outages, lost, realTime, begunAt })
    return { ...verdict, accounts, lost, broken, faults: [...streams, ...verdict.faults] }
  } finally {
    await store.close()
  }
}

/** What was read in pieces from many processes is what one process tells in one piece. */
async function faultsOfStreams(accounts: readonly Account[], url: string): Promise<string[]> {
  const faults: string[] = []
  await atOnce(READERS, accounts, async ({ taskId, frames }) => {
    const [first] = frames
    if (first === undefined) return
    const whole = await replay(url, taskId, first)
    const [read, told] = [frames, whole].map((those) => those.map(({ id }) => id).join(' '))
    if (read !== told) faults.push(`task ${taskId} was streamed as ${read}, it is ${told}`)
    else if (JSON.stringify(frames) !== JSON.stringify(whole)) {
      const at = frames.findIndex((frame, n) => JSON.stringify(frame) !== JSON.stringify(whole[n]))
      const [one, other] = [frames[at], whole[at]].map((frame) => JSON.stringify(frame))
      faults.push(`task ${taskId} was streamed with another frame: ${one} is ${other}`)
    }
  })
  return faults
}
