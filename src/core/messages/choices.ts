/** The answers that a question offers. */
import type { Message } from './message.ts'
import { valuesIn } from './message-values.ts'

export interface Choice {
  /** The value that the agent gets. */
  readonly value: string
  /** The text that people see. Default: the value. */
  readonly label?: string
}

/**
 * Finds the choice that the message names by value or label, ignoring case, and returns its value.
 * Undefined if the message names none.
 */
export function chosenIn(choices: readonly Choice[], message: Message): string | undefined {
  const [{ value }] = valuesIn(message)
  const said = String(value).trim()
  const exact = choices.find((choice) => choice.value === said || choice.label === said)
  const same = (text: string | undefined): boolean => text?.toLowerCase() === said.toLowerCase()
  return (exact ?? choices.find((choice) => same(choice.value) || same(choice.label)))?.value
}
