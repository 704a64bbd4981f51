/** The answers that a question offers. */
import type { Message } from './message.ts'
import { valuesIn } from './message-values.ts'

export interface Choice {
  /** What the agent gets. */
  readonly value: string
  /** What people see. Default: the value. */
  readonly label?: string
}

/** The value of the choice that the message names, by value or label, whatever the case. Undefined: none of them. */
export function chosenIn(choices: readonly Choice[], message: Message): string | undefined {
  const [{ value }] = valuesIn(message)
  const said = String(value).trim()
  const exact = choices.find((choice) => choice.value === said || choice.label === said)
  const same = (text: string | undefined): boolean => text?.toLowerCase() === said.toLowerCase()
  return (exact ?? choices.find((choice) => same(choice.value) || same(choice.label)))?.value
}
