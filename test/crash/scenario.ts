/** Twelve steps with parks, questions and pauses in between. What it stops for, the client (`client.ts`) sees to. */
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'

/** @param name tells apart what several tasks wait for */
export function scenario(name: string): readonly ScriptOp[] {
  const conditions = { onEvent: `ci.done:${name}` }
  const timeout = {
    durationMinutes: 0.0002,
    onTimeout: 'resume_with_input',
    input: { late: true },
  } as const
  return [
    { step: 'one', ms: 1 },
    { step: 'two' },
    { say: 'pause: finish_step' },
    { step: 'three', ms: 15 },
    { park: { reason: 'waiting for ci', conditions } },
    { step: 'four' },
    { ask: 'Which branch?' },
    { echo: 'input' },
    {
      turn: [
        { tool: 'five', ms: 2 },
        { say: 'pause: interrupt_immediate' },
        { tools: [{ name: 'six', ms: 15 }, { name: 'seven' }] },
      ],
    },
    { park: { reason: 'a moment', conditions: { timeout } } },
    { echo: 'wake' },
    { step: 'eight' },
    { consent: { prompt: 'Push?', operation: { push: name } } },
    { say: 'pause: wait_for_completion' },
    { turn: [{ tool: 'nine', ms: 15 }, { tool: 'ten' }] },
    { park: { reason: 'until somebody says so' } },
    { echo: 'input' },
    { repeat: 2, ops: [{ step: 'again' }] },
    { artifact: { name: 'result', text: 'all of it', chunks: 2 } },
    { complete: 'done' },
  ]
}

export const STEPS = 12
