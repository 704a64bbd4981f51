/**
 * The search over all tasks. What the page knows is filtered at once, and the server looks through the others. What the
 * server finds appears in the columns. The words are in the address, so that a link to the page has the search.
 */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type KnownTasks, merged } from '../known-tasks.ts'
import { messageOf, ops } from '../server.ts'

export const searched = signal(new URLSearchParams(location.search).get('q') ?? '')

/** What the server found for the words. It stays, however many other tasks the page learns. */
export const hits = signal<KnownTasks>(new Map())

/** What the server answered for the words. Undefined until it did. */
const answer = signal<{ read: number; cursor: string | undefined } | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

/** The server is asked this long after the last change of the words. */
const PAUSE_MS = 250

export function Search() {
  const words = searched.value.trim()
  useEffect(() => {
    answer.value = undefined
    problem.value = undefined
    hits.value = new Map()
    history.replaceState(
      null,
      '',
      words === '' ? location.pathname : `?q=${encodeURIComponent(words)}`,
    )
    if (words === '') return
    const timer = setTimeout(() => ask(words), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [words])
  return (
    <search>
      <input
        id="search"
        type="search"
        placeholder="Search all tasks: text, agent, state or a part of an id ( / )"
        aria-label="Search tasks"
        maxLength={200}
        value={searched.value}
        onInput={(event) => {
          searched.value = event.currentTarget.value
        }}
      />
      {words !== '' && <p role="status">{problem.value ?? <Progress words={words} />}</p>}
    </search>
  )
}

function Progress({ words }: { readonly words: string }) {
  const found = answer.value
  if (found === undefined) return <>Searching…</>
  const { read, cursor } = found
  if (cursor === undefined) return <>Every task was searched.</>
  return (
    <>
      The latest {read.toLocaleString()} tasks were searched.{' '}
      <button type="button" onClick={() => ask(words, cursor, read)}>
        Search older ones
      </button>
    </>
  )
}

function ask(words: string, cursor?: string, before = 0): void {
  ops()
    .tasks({ q: words, cursor })
    .then(
      (list) => {
        if (searched.value.trim() !== words) return
        hits.value = merged(hits.value, list.tasks, performance.now())
        problem.value = undefined
        answer.value = { read: before + (list.searched ?? 0), cursor: list.cursor }
      },
      (error: unknown) => {
        if (searched.value.trim() === words) problem.value = messageOf(error)
      },
    )
}
