/** Runs the scenario through as many processes as it takes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { removeTestStore } from '../support/test-store.ts'
import { Died, spawnWorker, type Worker } from '../support/worker-process.ts'
import { type Client, createClient } from './client.ts'
import type { Evidence } from './judge.ts'
import { scenario } from './scenario.ts'
import type { WorkerOptions } from './worker.ts'

export function temporaryData(): string {
  const data = mkdtempSync(join(tmpdir(), 'lull-crash-'))
  onTestFinished(async () => {
    rmSync(data, { recursive: true, force: true })
    await removeTestStore(data)
  })
  return data
}

export interface Story extends Evidence {
  readonly lives: number
}

/** What each process is started with, by the number of its life; undefined: it is left alone to the end. */
export type Fate = (life: number) => Omit<WorkerOptions, 'data'> | undefined

/** @param meanwhile called for each worker when it is born, say to kill it */
export async function live(
  tasks: readonly string[],
  fate: Fate,
  meanwhile: (worker: Worker, life: number) => void = () => undefined,
): Promise<Story> {
  const data = temporaryData()
  const client: Client = createClient(new Map(tasks.map((name) => [name, scenario(name)])))
  const killed = new Set<number>()
  for (let life = 1; ; life++) {
    const worker = spawnWorker({ data, ...fate(life) })
    meanwhile(worker, life)
    const ended = await client.attend(worker)
    if (worker.isDead()) killed.add(worker.pid)
    if (!ended) continue
    await verify(worker, client)
    await worker.kill()
    return { data, client, killed, lives: life }
  }
}

/** The engine's own audit: receipts, and that the log folds to the task that is shown. */
async function verify(worker: Worker, { taskIds }: Client): Promise<void> {
  try {
    for (const taskId of taskIds.values()) {
      expect((await worker.call('verify', taskId)).faults).toEqual([])
    }
  } catch (error) {
    // Then it is left to the judge, who has the same evidence.
    if (!(error instanceof Died)) throw error
  }
}
