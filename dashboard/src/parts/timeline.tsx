/** What happened to a task, oldest first: solid where it worked, dotted where it lay still. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { durationText } from '../../../src/core/values/duration.ts'
import type { ShownContent, TimelineEntry } from '../../../src/wire/ops/tasks.ts'
import { ops } from '../server.ts'
import { type Choice, chosen, type Row, rowsOf } from '../timeline-rows.ts'
import { Shape } from './marks.tsx'
import { useNow, When } from './times.tsx'

/** The entries of the task that is shown. */
export const entries = signal<readonly TimelineEntry[]>([])
const choice = signal<Choice>('all')

/** How many rows are shown at first. */
const SHOWN = 200
const RETRY_MS = 1_000
const DRAW_MS = 50

const choices: Readonly<Record<Choice, string>> = { all: 'All', stops: 'Stops', steps: 'Steps' }

/** Reads the timeline of a task, and follows it, while its page is open. */
export function useTimeline(taskId: string): void {
  useEffect(() => followTask(taskId), [taskId])
}

export function Timeline() {
  const rows = chosen(rowsOf(entries.value, Date.now()), choice.value)
  const shown = rows.slice(-SHOWN)
  return (
    <section class="panel" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <div class="seg push">
          {(Object.keys(choices) as Choice[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={choice.value === one}
              onClick={() => {
                choice.value = one
              }}
            >
              {choices[one]}
            </button>
          ))}
        </div>
      </header>
      {rows.length > SHOWN && (
        <p class="pad quiet">
          The newest {SHOWN} of {rows.length} entries.
        </p>
      )}
      <ol class="tl timeline">
        {shown.map((row, index) => (
          <Line key={row.entry.seq} row={row} before={shown[index - 1]} />
        ))}
      </ol>
    </section>
  )
}

function Line({ row, before }: { readonly row: Row; readonly before: Row | undefined }) {
  const { entry, look, took, begins, isStill } = row
  const kinds = [
    entry.kind === 'turn' && 'turn',
    begins && 'lull',
    begins === 'ask' && 'asks',
    !begins && isStill && 'still',
  ]
  const sameMinute = before?.entry.at.slice(0, 16) === entry.at.slice(0, 16)
  return (
    <li class={kinds.filter(Boolean).join(' ')} data-kind={entry.kind} data-outcome={entry.outcome}>
      {sameMinute && entry.kind !== 'turn' && !begins ? (
        <time dateTime={entry.at} />
      ) : (
        <When at={entry.at} />
      )}
      <span class="dot">{look && <Shape {...look} />}</span>
      <div class="what">{begins ? <Stop row={row} /> : <What row={row} />}</div>
      <span class="took">{took !== undefined && took > 0 && durationText(took)}</span>
    </li>
  )
}

/** What woke a task. */
const causes: Readonly<Record<string, string>> = {
  explicit_resume: 'resumed by hand',
  condition_fired: 'what it waited for came',
  timeout: 'its time was over',
  external_event: 'woken from outside',
}

function What({ row: { entry, word } }: { readonly row: Row }) {
  const { kind, name, outcome, text } = entry
  if (kind === 'usage') {
    return (
      <>
        {word} <span class="quiet">{spent(entry)}</span>
      </>
    )
  }
  const failed = outcome === 'failed' || outcome === 'abandoned'
  return (
    <>
      {word !== '' && <b class="event">{word} </b>}
      {name !== undefined && <code class="event">{name}</code>}{' '}
      {outcome !== undefined && outcome !== 'done' && (
        <span class={failed ? 'tag fail' : 'tag'}>{outcome}</span>
      )}
      <By entry={entry} />
      {text !== undefined && <p class="words">{causes[text] ?? text}</p>}
      <Contents entry={entry} />
    </>
  )
}

/** Where it stopped, how long, and what ended the stop. */
function Stop({ row: { entry, word, begins, ended } }: { readonly row: Row }) {
  return (
    <div class={begins === 'ask' ? 'stopbox asks' : 'stopbox'}>
      <span>
        <b class="event">{word}</b> <By entry={entry} />
      </span>
      {entry.text !== undefined && <p class="words">{entry.text}</p>}
      {ended === undefined && <Standing since={entry.at} />}
      {ended?.by !== undefined && (
        <p>
          {begins === 'ask' ? 'Answered' : 'Ended'} <By entry={ended} />
        </p>
      )}
    </div>
  )
}

function Standing({ since }: { readonly since: string }) {
  return (
    <p>
      Stopped for <b>{durationText(Math.max(0, useNow() - Date.parse(since)))}</b>. The place is
      kept.
    </p>
  )
}

/** The agent itself is not named: it wrote what has no other author. */
function By({ entry: { by } }: { readonly entry: TimelineEntry }) {
  if (by === undefined || by.kind === 'agent') return null
  const isPerson = by.kind === 'client' || by.kind === 'operator'
  return (
    <span class="quiet">
      by{' '}
      <span class="who">
        <span class={isPerson ? 'face' : 'face law'} aria-hidden="true">
          {by.id.slice(0, 2).toUpperCase()}
        </span>
        {by.kind === 'client' ? by.id : `${by.kind} ${by.id}`}
      </span>
    </span>
  )
}

/** Folded: what went in and what came out. */
function Contents({ entry: { input, result } }: { readonly entry: TimelineEntry }) {
  if (input === undefined && result === undefined) return null
  return (
    <details>
      <summary class="fold">{firstWords(result ?? input)}</summary>
      <div class="io">
        {input !== undefined && <Content title="Input" content={input} />}
        {result !== undefined && <Content title="Result" content={result} />}
      </div>
    </details>
  )
}

function Content({ title, content }: { readonly title: string; readonly content: ShownContent }) {
  return (
    <>
      <h4>
        <span>{title}</span>
        {content.isCut && <span>the beginning; the export has all</span>}
      </h4>
      <pre>{JSON.stringify(JSON.parse(content.json), null, 2)}</pre>
    </>
  )
}

const FIRST_WORDS = 80

function firstWords(content: ShownContent | undefined): string {
  const json = content?.json ?? ''
  return json.length <= FIRST_WORDS ? json : `${json.slice(0, FIRST_WORDS - 1)}…`
}

function spent({ costUsd, tokens = 0 }: TimelineEntry): string {
  const cost = costUsd === undefined ? '' : `$${costUsd.toFixed(4)}, `
  return `${cost}${tokens.toLocaleString()} tokens`
}

/** Reads the timeline, then follows it, also across restarts of the server. */
function followTask(taskId: string): () => void {
  const left = new AbortController()
  entries.value = []
  choice.value = 'all'
  // Entries that arrive together are drawn together.
  let arrived: TimelineEntry[] = []
  let soon: ReturnType<typeof setTimeout> | undefined
  const draw = (): void => {
    clearTimeout(soon)
    soon = undefined
    if (left.signal.aborted || arrived.length === 0) return
    entries.value = [...entries.value, ...arrived]
    arrived = []
  }
  const read = async (): Promise<void> => {
    while (!left.signal.aborted) {
      draw()
      const last = entries.peek().at(-1)?.seq ?? 0
      try {
        for await (const entry of ops().follow(taskId, last, left.signal)) {
          arrived.push(entry)
          soon ??= setTimeout(draw, DRAW_MS)
        }
        // The task has ended.
        return draw()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
  read().catch(() => undefined)
  return () => left.abort()
}
