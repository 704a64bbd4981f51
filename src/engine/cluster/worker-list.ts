/**
 * Lists the processes that share the store, for operators. Each process describes itself in the
 * note of its lease.
 */
import { z } from 'zod'
import type { Json } from '../../core/values/json.ts'
import type { Worker } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { ProcessName } from '../deps.ts'
import type { Membership } from './membership.ts'

/** One process. Times are epoch milliseconds of the store's clock. */
export interface WorkerSummary {
  readonly id: string
  /** Whether this is the process that answers the request. */
  readonly here: boolean
  /** Whether its lease is valid. Tasks of a process without a lease are taken over by others. */
  readonly alive: boolean
  readonly agents: readonly string[]
  readonly host?: string | undefined
  readonly pid?: number | undefined
  readonly startedAt?: number | undefined
  /** When it last renewed its lease. Absent for an embedded store, which has no leases. */
  readonly heartbeatAt?: number | undefined
  readonly leaseUntil?: number | undefined
  /** How many tasks it runs. */
  readonly running: number
  readonly draining: boolean
}

/** The part of a note that describes the process. Notes of other versions may lack any member. */
const told = z.object({
  host: z.string().optional().catch(undefined),
  pid: z.number().optional().catch(undefined),
  startedAt: z.number().optional().catch(undefined),
  leaseMs: z.number().optional().catch(undefined),
  running: z.number().catch(0),
  agents: z.array(z.string()).optional().catch(undefined),
  draining: z.boolean().catch(false),
})

export interface WorkerList {
  /** What this process writes about itself to its note. */
  readonly note: () => { readonly [name: string]: Json }
  /** The id of this process. */
  readonly here: () => string
  list(): Promise<readonly WorkerSummary[]>
}

/** @param context its parts are read only after the engine is assembled */
export function createWorkerList(
  context: Pick<EngineContext, 'store' | 'clock' | 'runs' | 'agents' | 'options' | 'draining'>,
  membership: Pick<Membership, 'worker'>,
  name: ProcessName | undefined,
  begun: number,
): WorkerList {
  function note(): { readonly [name: string]: Json } {
    const { clock, runs, agents, options, draining } = context
    return {
      ...name,
      startedAt: Math.round(clock.now() - (clock.elapsed() - begun)),
      leaseMs: options.leaseMs,
      running: runs.counts().busy,
      agents: [...agents.keys()],
      draining: draining(),
    }
  }

  /** The only process of an embedded store. */
  function own(): WorkerSummary {
    const { leaseMs: _, agents = [], ...about } = told.parse(note())
    return { id: membership.worker(), here: true, alive: true, agents, ...about }
  }

  function summary({ id, alive, leaseUntil, note: noted, ...registered }: Worker): WorkerSummary {
    const here = id === membership.worker()
    const { leaseMs, ...about } = told.parse(typeof noted === 'object' ? { ...noted } : {})
    // The note wins over the registration, because agents can be replaced after the process
    // registered.
    const agents = about.agents ?? registered.agents
    const heartbeatAt = leaseMs === undefined ? undefined : leaseUntil - leaseMs
    return { ...about, id, here, alive, agents, heartbeatAt, leaseUntil }
  }

  return {
    note,
    here: membership.worker,
    async list() {
      const { cluster } = context.store
      return cluster === undefined ? [own()] : (await cluster.workers()).map(summary)
    },
  }
}
