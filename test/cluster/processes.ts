/** The servers of a cluster: real processes on one PostgreSQL, each on a port that it keeps through deaths. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'

export const LEASE_MS = 2_000
export const RECEIPT_KEY = 'the same in every process of the cluster'

/** A time in which a process did nothing: it was stopped (SIGSTOP), or it was dead from `from` on. */
export interface Outage {
  readonly pid: number
  readonly kind: 'killed' | 'frozen'
  readonly from: number
  readonly to: number
}

export interface Processes {
  readonly count: number
  url(slot: number): string
  /** What the clock of the machine showed when that of the process showed this. */
  realTime(pid: number, shown: number): number
  /** SIGKILL, and another process in its place. */
  kill(slot: number): Promise<void>
  /** SIGSTOP, and SIGCONT when `thaw` resolves. */
  freeze(slot: number, thaw: Promise<void>): Promise<void>
  /** SIGTERM, and another process in its place. */
  replace(slot: number): Promise<void>
  readonly outages: readonly Outage[]
  /** SIGKILL for all that run. */
  end(): Promise<void>
  /** The leases that processes lost, as they say themselves; known when all have ended. */
  lostLeases(): Promise<readonly LostLease[]>
}

export interface LostLease {
  readonly pid: number
  readonly worker: string
  /** When the process noticed it, by the clock of the machine. */
  readonly at: number
}

type Server = LullProcess & { readonly url: string }

export interface Where {
  /** A directory for what belongs to this cluster. */
  readonly home: string
  readonly postgres: string
  readonly count: number
  /** How much the wall clock of each process shows more than that of the machine. Default: nothing. */
  readonly skews?: readonly number[] | undefined
  /** The wall clock of each process is set every four seconds: right, a day ahead or a day back. */
  readonly steps?: boolean | undefined
  /** Another build of the program, which the first process and every second one after it run. */
  readonly older?: string | undefined
}

export const effectsIn = (home: string): string => join(home, 'effects')

/** How far the clock of a process is set. A run takes less than half of it. */
const DAY_MS = 86_400_000
const skewedClock = new URL('./skewed-clock.mjs', import.meta.url).href

export async function startProcesses({
  home,
  postgres,
  count,
  skews = [],
  steps = false,
  older,
}: Where): Promise<Processes> {
  const config = join(home, 'config.json')
  const engine = { leaseMs: LEASE_MS, concurrency: 32, maxDeaths: 1_000, pollMs: 500 }
  writeFileSync(config, JSON.stringify({ engine, a2a: { pushToPrivate: true } }))
  const outages: Outage[] = []
  const ended: LullProcess[] = []
  const skewsByPid = new Map<number, number>()

  async function start(slot: number, port: string): Promise<Server> {
    const data = join(home, `data-${slot}`)
    mkdirSync(data, { recursive: true })
    const flags = ['--script', '--port', port, '--data', data, '--config', config]
    const skew = skews[slot] ?? 0
    const variables = {
      LULL_POSTGRES: postgres,
      LULL_EFFECTS: effectsIn(home),
      LULL_RECEIPT_KEY: RECEIPT_KEY,
      ...(skew === 0 && !steps ? {} : { NODE_OPTIONS: `--import ${skewedClock}` }),
      LULL_TEST_SKEW_MS: `${skew}`,
      ...(steps ? { LULL_TEST_STEPS: `${slot}` } : {}),
    }
    const main = slot % 2 === 0 ? older : undefined
    const server = await serving(['serve', ...flags], variables, { main })
    skewsByPid.set(server.child.pid ?? 0, skew)
    return server
  }

  function realTime(pid: number, shown: number): number {
    const unskewed = shown - (skewsByPid.get(pid) ?? 0)
    return steps ? unskewed - Math.round((unskewed - Date.now()) / DAY_MS) * DAY_MS : unskewed
  }

  const slots: Server[] = []
  for (let slot = 0; slot < count; slot++) slots.push(await start(slot, `${await freePort()}`))
  const at = (slot: number): Server => slots[slot] as Server

  async function restart(slot: number): Promise<void> {
    const old = at(slot)
    await old.ended
    ended.push(old)
    slots[slot] = await start(slot, new URL(old.url).port)
  }

  return {
    count,
    outages,
    url: (slot) => at(slot).url,
    realTime,
    async kill(slot) {
      const { child } = at(slot)
      const from = Date.now()
      child.kill('SIGKILL')
      outages.push({ pid: child.pid ?? 0, kind: 'killed', from, to: Number.POSITIVE_INFINITY })
      await restart(slot)
    },
    async replace(slot) {
      at(slot).signal('SIGTERM')
      await restart(slot)
    },
    async freeze(slot, thaw) {
      const { child } = at(slot)
      const from = Date.now()
      child.kill('SIGSTOP')
      await thaw
      outages.push({ pid: child.pid ?? 0, kind: 'frozen', from, to: Date.now() })
      child.kill('SIGCONT')
    },
    async end() {
      for (const { child } of slots) child.kill('SIGKILL')
      await Promise.all(slots.map((one) => one.ended))
    },
    async lostLeases() {
      const all = [...ended, ...slots].map(async ({ child, ended: end }) => {
        const lines = (await end).err.split('\n')
        const pid = child.pid ?? 0
        return lines
          .filter((line) => line.includes('goes on as another worker') && line.endsWith('}'))
          .map((line): LostLease => {
            const { worker, time } = JSON.parse(line)
            return { pid, worker, at: realTime(pid, Date.parse(time)) }
          })
      })
      return (await Promise.all(all)).flat()
    },
  }
}
