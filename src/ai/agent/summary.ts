/** Shortens a transcript with the help of the model: to one text (`digest`), or to a text and the newest turns (`compact`). */
import { generateText, type LanguageModel } from 'ai'
import type { TranscriptEntry } from '../../core/transcript.ts'

type Transcript = readonly TranscriptEntry[]

const KEPT_TURNS = 2
const ASK =
  'Summarize this transcript of your work for yourself, so that you can go on with it and nothing is done twice. Keep the request, decisions, facts, identifiers, results of tools, and what is left to do. Answer with the summary alone.'

export async function digestOf(model: LanguageModel, transcript: Transcript): Promise<string> {
  const { text } = await generateText({ model, system: ASK, prompt: JSON.stringify(transcript) })
  return `Summary of the work so far:\n${text}`
}

/** Cuts between two turns, so that no call of a tool is separated from its result. */
export async function compacted(model: LanguageModel, transcript: Transcript): Promise<Transcript> {
  const newest = transcript.at(-1)?.turn ?? 0
  const kept = transcript.filter(({ turn }) => turn > newest - KEPT_TURNS)
  const old = transcript.slice(0, transcript.length - kept.length)
  const [last] = old.slice(-1)
  if (last === undefined) return transcript
  return [{ turn: last.turn, role: 'digest', content: await digestOf(model, old) }, ...kept]
}
