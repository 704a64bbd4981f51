/**
 * Rejects options that would fail only when a task runs: for authors without a compiler, and for
 * mistakes that a compiler cannot find.
 */
import { LullError } from '../../core/errors.ts'
import type { AiAgentOptions } from './options.ts'

/** @throws LullError `INVALID_INPUT` with the path of the invalid option */
export function checkOptions(options: AiAgentOptions): void {
  const { model, until, budget, price, tools } = options
  if (typeof model === 'string' ? model === '' : typeof model?.doStream !== 'function') {
    refuse('model', "must be a model of the AI SDK, such as openai('gpt-5-mini'), or its name")
  }
  const conditions = Array.isArray(until) || until === undefined ? (until ?? []) : [until]
  if (conditions.some((condition) => typeof condition !== 'function')) {
    refuse('until', 'must be a condition such as stepCountIs(5), or a list of conditions')
  }
  if (tools !== undefined && (typeof tools !== 'object' || Array.isArray(tools))) {
    refuse('tools', 'must be an object with the tools by their names')
  }
  if (budget?.costUsd !== undefined && price === undefined) {
    refuse('budget.costUsd', 'needs the option price, which says what a call costs')
  }
}

function refuse(path: string, problem: string): never {
  throw new LullError('INVALID_INPUT', { path, problem })
}
