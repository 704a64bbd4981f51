/** Reads the token usage of a model call from every form in which providers report it. */

export interface ModelUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

type Members = Readonly<Record<string, unknown>>

/** @param usage `{inputTokens: {total, cacheRead…}, …}` of a V3 or V4 model, or the flat form of a V2 model */
export function usageOf(usage: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = membersOf(usage)
  const input = membersOf(inputTokens)
  const output = membersOf(outputTokens)
  return known({
    inputTokens: input['total'] ?? inputTokens,
    outputTokens: output['total'] ?? outputTokens,
    cacheReadTokens: input['cacheRead'] ?? cachedInputTokens,
    cacheWriteTokens: input['cacheWrite'],
    reasoningTokens: output['reasoning'] ?? reasoningTokens,
  })
}

function known(counts: { readonly [K in keyof ModelUsage]-?: unknown }): ModelUsage {
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count) && Number(count) >= 0),
  )
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
