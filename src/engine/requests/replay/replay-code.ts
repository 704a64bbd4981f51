/**
 * Runs an agent's code against the recorded log of a task, with the replay rules of the engine and without any effect.
 * Says how the task would go on with this code.
 *
 * Y1  Nothing is stored, no function of a step runs, and nothing leaves the process.
 * Y2  The verdict is the one that the engine comes to when it rebuilds the run from the same log.
 * Y3  A result that is not in the log is never handed to the code: code behind a park or a question does not run.
 */
import type { LogRecord } from '../../../core/records.ts'
import type { Agent } from '../../author/agent.ts'
import { noPast, type Past } from '../../author/conversation.ts'
import { STILL_MS } from '../../run/admission.ts'
import { Journal } from '../../run/replay/journal.ts'
import { describeKey } from '../../run/replay/keys.ts'
import { Run } from '../../run/run.ts'
import type { CodeChange, CodeReplay, CodeReplayDeps, ReplayedOperation } from './code-replay.ts'
import { createDryHost, type DryEvents, type EndCommand, type PolicyStop } from './dry-host.ts'
import { copyRun, type WorkingCopy, workingCopy } from './working-copy.ts'

/** A stop as `code-changed` comes after at most two looks at a run that stands still, and a look takes `STILL_MS`. */
const SETTLED_MS = 2 * STILL_MS + STILL_MS / 2
/** Turns of the event loop in which the run hands out its next result, if it has one. */
const HAND_OUT_TURNS = 3
/** Code that still moves after so many looks is not followed any further. */
const MOST_LOOKS = 10

/** @throws Error for a log that cannot be folded */
export function replayCode(
  agent: Agent,
  log: readonly LogRecord[],
  deps: CodeReplayDeps,
  past: Past = noPast,
): Promise<CodeReplay> {
  const copy = workingCopy(log)
  return copy === undefined
    ? Promise.resolve({ verdict: 'fits', goesOnFrom: [], notCalled: [] })
    : new Promise((resolve) => watch(agent, copy, deps, past, resolve))
}

/** Starts the run and answers when its verdict is certain. */
function watch(
  agent: Agent,
  copy: WorkingCopy,
  { clock, ids, log }: CodeReplayDeps,
  past: Past,
  answer: (replay: CodeReplay) => void,
): void {
  const journal = journalOf(copy)
  const reached = new Set<string>()
  let moves = 0
  let over = false
  const { stoppedAt } = copy
  /** Where the recorded past is used up so far. */
  const places = (): ReadonlySet<string> => {
    const isAtStop = stoppedAt !== undefined && !journal.unclaimed.has(stoppedAt)
    return isAtStop ? new Set([stoppedAt, ...reached]) : reached
  }
  const finish = (found: Found): void => {
    if (over) return
    over = true
    const goesOnFrom = [...places()].map(operation)
    answer({ ...found, goesOnFrom, notCalled: journal.unclaimed.keys.map(operation) })
    // Not while the code of the run is on the stack.
    setImmediate(() => run.discard('given-up'))
  }
  const events: DryEvents = {
    reached(key) {
      reached.add(key)
    },
    stopped: (stop) => finish({ verdict: 'stops', changes: changesOf(stop) }),
    ended: (command) => finish(endOf(command)),
    moved() {
      moves++
      lookSoon()
    },
    wrote: ({ records, task }) => run.observe(records, task),
  }
  const host = createDryHost({ clock, ids, log, journal, task: copy.task, events })
  const again = (): void => undefined
  const run = new Run({
    host,
    again,
    lost: again,
    agent,
    token: copyRun.token,
    journal,
    past,
    ahead: false,
    task: copy.task,
    ask: () => ({}),
  })

  /** Code that has called every recorded operation cannot be stopped any more: whatever it asks for may run. */
  function lookSoon(): void {
    const before = moves
    afterTurns(HAND_OUT_TURNS, () => {
      const isCertain = journal.unclaimed.isEmpty && places().size > 0
      if (moves === before && isCertain) finish({ verdict: 'fits' })
    })
  }

  function lookLater(looks: number): void {
    const before = moves
    clock.after(SETTLED_MS, () => {
      if (over) return
      if (moves !== before && looks > 1) lookLater(looks - 1)
      else finish({ verdict: moves === before && isFollowed() ? 'fits' : 'unclear' })
    })
  }

  /** Whether the code has come to the end of what is recorded. */
  function isFollowed(): boolean {
    const { unclaimed } = journal
    const isInside = [...reached].some((key) => unclaimed.hasInside(key))
    return places().size > 0 && !isInside && unclaimed.behind(run.lastResult, '') === undefined
  }

  run.start()
  lookLater(MOST_LOOKS)
}

type Found = Omit<CodeReplay, 'goesOnFrom' | 'notCalled'>

function changesOf({ mismatch, newOperations = [] }: PolicyStop): readonly CodeChange[] {
  if (mismatch !== undefined) {
    return [{ asked: operation(mismatch), recorded: operation(mismatch) }]
  }
  return newOperations.map(({ key, unclaimed }) => ({
    asked: operation(key),
    recorded: operation(unclaimed),
  }))
}

function endOf(command: EndCommand): Found {
  if (command.type !== 'fail') return { verdict: 'fits', ends: command.type }
  const { message, name } = command.failure
  return { verdict: 'fails', failure: message || name }
}

/** The journal of the copy. What was not recorded is compared with the code, and not handed out (Y3). */
function journalOf({ task, log, recordedUpTo }: WorkingCopy): Journal {
  const after = Math.max(0, task.journal.afterSeq - 1)
  const records = log.filter(({ seq }) => seq > after)
  return new Journal(records, task.journal.wake, recordedUpTo)
}

const operation = (key: string): ReplayedOperation => ({ key, name: describeKey(key) })

function afterTurns(turns: number, then: () => void): void {
  setImmediate(turns <= 1 ? then : () => afterTurns(turns - 1, then))
}
