/**
 * Shortens a transcript with the model: to one text (`digest`), or to a text followed by the newest
 * turns (`compact`).
 */
import { generateText } from 'ai'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { Spend } from '../../engine/author/agent.ts'
import { usageReport } from '../model/ask-model.ts'
import { modelOf } from '../model/durable-model.ts'
import type { AiAgentOptions } from './options.ts'

type Transcript = readonly TranscriptEntry[]
type Summarizer = Pick<AiAgentOptions, 'model' | 'price'>

const KEPT_TURNS = 2
const ASK =
  'Summarize this transcript of your work for yourself, so that you can go on with it and nothing is done twice. Keep the request, decisions, facts, identifiers, results of tools, and what is left to do. Answer with the summary alone.'

/** @param spend called with the usage of the summary */
export async function digestOf(
  { model, price }: Summarizer,
  transcript: Transcript,
  spend: Spend,
): Promise<string> {
  const prompt = JSON.stringify(transcript)
  const { text, usage } = await generateText({ model, system: ASK, prompt })
  const priced = price === undefined ? {} : { price }
  const report = usageReport(usage, modelOf(model).modelId, priced)
  if (report !== undefined) spend(report)
  return `Summary of the work so far:\n${text}`
}

/** Cuts between two turns, so that no tool call is separated from its result. */
export async function compacted(
  summarizer: Summarizer,
  transcript: Transcript,
  spend: Spend,
): Promise<Transcript> {
  const newest = transcript.at(-1)?.turn ?? 0
  const kept = transcript.filter(({ turn }) => turn > newest - KEPT_TURNS)
  const old = transcript.slice(0, transcript.length - kept.length)
  const [last] = old.slice(-1)
  if (last === undefined) return transcript
  const content = await digestOf(summarizer, old, spend)
  return [{ turn: last.turn, role: 'digest', content }, ...kept]
}
