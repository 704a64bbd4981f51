/** Starts a turn. Its record contains what the turn sees, so that a rebuilt run sees the same. */
import { type DigestLog, defaultDigest, followDigest } from '../../../core/digest.ts'
import { LullError } from '../../../core/errors.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Agent } from '../../author/agent.ts'
import type { TurnStart } from '../../author/providers/provider.ts'
import { allowedDuring, checkBudgets, orDefault } from '../author-functions.ts'
import { Handed } from '../operation.ts'
import { createSpending, usageKeyOf } from '../outputs/spending.ts'
import type { RunCore } from '../run-core.ts'
import type { RunTranscript } from './run-transcript.ts'

export type TurnStarted = LogRecord & { readonly type: 'turn-started' }

export function createTurnStart(
  core: RunCore,
  agent: Agent,
  transcript: RunTranscript,
): () => Promise<TurnStarted> {
  const { host, gate } = core
  const { spend, take } = createSpending()

  async function start(): Promise<TurnStarted> {
    const key = core.key('turn')
    // It is recorded without the turn if a pause came first.
    core.place.noteCall(usageKeyOf(key))
    const started = await core.perform<TurnStarted>({
      key,
      harmless: true,
      replay: (entry) => {
        const record = entry.kind === 'record' ? entry.record : undefined
        return record?.type === 'turn-started' ? { value: record } : undefined
      },
      live: () => begin(key),
    })
    transcript.begin(started)
    return started
  }

  /** While a pause is under way, the turn waits for the resume. */
  async function begin(key: string): Promise<Handed<TurnStarted>> {
    const scope = core.scope
    const during = allowedDuring(
      core,
      scope,
      'digest:#1',
      (work) => gate.during(scope, work),
      () => needsDigest(core.task) && agent.digest !== undefined,
    )
    let spent = false
    for (;;) {
      const { written } = await during(async () => {
        const digest = await digestOf(core.task)
        const digested = digest === undefined ? {} : { digest }
        const task = core.task
        const wanted = core.ask(turnStarting(core, digested), task)
        const usage = take(key)
        spent ||= usage !== undefined
        const used = usage === undefined ? {} : { usage }
        return {
          written: core.persist({ type: 'start-turn', key, ...digested, ...used, ...wanted }),
        }
      })
      const { records } = await written
      const started = records.find(
        (record): record is TurnStarted => record.type === 'turn-started',
      )
      if (started === undefined) continue
      const finish = () => ({ seq: started.seq, settle: () => started })
      return Handed.over(written, finish, () => (spent ? checkBudgets(core) : undefined))
    }
  }

  /** The digest, for the first turn after a resume with `continueTranscript: false`. */
  async function digestOf(task: Task): Promise<string | undefined> {
    if (!needsDigest(task)) return undefined
    const { digest } = agent
    if (digest === undefined) return digestOfLog(task)
    const made = (): Promise<string> => checkedDigest(digest(transcript.entries(), spend))
    return orDefault(core, 'digest', made, () => digestOfLog(task))
  }

  /** Reads the results of steps from the log, because the folded task does not contain them. */
  async function digestOfLog(task: Task): Promise<string> {
    let seen: DigestLog = { steps: [] }
    for await (const record of host.records(task.id)) seen = followDigest(seen, record)
    return defaultDigest(task, seen)
  }

  return start
}

function needsDigest({ wake, wakeUnseen }: Task): boolean {
  return wakeUnseen === true && wake?.continueTranscript === false
}

/** The input of the providers when a turn starts. */
export function turnStarting(
  { task, host }: Pick<RunCore, 'task' | 'host'>,
  digested: Pick<TurnStart, 'digest'> = {},
): TurnStart {
  const { wake, wakeUnseen, turn, updatedAt } = task
  return {
    type: 'turn-starting',
    turn: turn + 1,
    idleMs: host.clock.now() - updatedAt,
    ...(wakeUnseen && wake !== undefined ? { wake } : {}),
    ...digested,
  }
}

/** @throws LullError `INVALID_INPUT` when the digest is no text */
async function checkedDigest(made: unknown): Promise<string> {
  const digest = await made
  if (typeof digest === 'string') return digest
  throw new LullError('INVALID_INPUT', { path: 'digest', problem: 'must give a text' })
}
