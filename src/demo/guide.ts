/**
 * The first agent of the demo. It answers small talk with a stateless message. A request for one of the other agents
 * becomes a task that runs that agent's code, so the same requests work here and at that agent's own address.
 */
import { type Message, textOf } from '../core/messages/message.ts'
import { type Agent, agent } from '../engine/author/agent.ts'
import type { Conversation } from '../engine/author/conversation.ts'
import { scriptAgent } from '../testing/script-agent/script-agent.ts'
import { builder } from './builder.ts'
import { colourIn, painter, pictureOf, subjectIn } from './painter.ts'
import { acceptTextConsent, travel, wishIn } from './travel.ts'

interface Route {
  readonly agent: Agent
  readonly wants: (message: Message, context: Conversation) => boolean
}

/** The first route that matches is taken. */
const routes: readonly Route[] = [
  { agent: scriptAgent, wants: bringsScript },
  { agent: travel, wants: (message) => wishIn(textOf(message)) !== undefined },
  { agent: painter, wants: wantsPicture },
  { agent: builder, wants: (message) => /\b(build|ci)\b/i.test(textOf(message)) },
]

function bringsScript(message: Message): boolean {
  const inData = message.parts.some(
    (part) => 'data' in part && typeof part.data === 'object' && 'script' in (part.data ?? {}),
  )
  return inData || /^\s*\{\s*"script"/.test(textOf(message))
}

function wantsPicture(message: Message, context: Conversation): boolean {
  const text = textOf(message)
  if (subjectIn(text) !== undefined || /\b(image|picture|paint|draw)\b/i.test(text)) return true
  const hasPicture = context.artifacts.some(({ artifact }) => pictureOf(artifact) !== undefined)
  return hasPicture && colourIn(text).colour !== undefined
}

const replies: readonly (readonly [RegExp, string])[] = [
  [/\b(thanks|thank you)\b/i, 'You are welcome.'],
  [/\b(bye|goodbye|see you)\b/i, 'Goodbye! Your tasks will be here when you come back.'],
  [/\bhow are you\b/i, 'Rested, thank you. Waiting is what I do best.'],
  [/\b(hello|hi|hey|good (morning|evening))\b/i, 'Hello! What can I do for you?'],
]

const offer =
  'I can hand you on: ask for an image of a sailboat, for a flight to Helsinki, or for a build of main.'

export const guide: Agent = agent({
  name: 'guide',
  description: 'Answers small talk and hands everything else to the agents beside it',
  skills: [
    {
      id: 'guide',
      name: 'Find the right agent',
      description: 'Says hello, says what can be done here, and has it done',
      tags: ['demo'],
      examples: ['Hello', 'Generate an image of a sailboat on the ocean.', 'Build main'],
    },
  ],

  receive(message, reception) {
    const chosen = agentFor(message, reception.context)
    if (chosen !== undefined) return chosen.receive?.(message, reception)
    const text = textOf(message)
    return reception.reply(replies.find(([words]) => words.test(text))?.[1] ?? offer)
  },

  async run(task) {
    // A step, so that a replay gives the same name even when the conversation has gone on.
    const name = await task.step(
      'choose an agent',
      () => agentFor(task.message, task.context)?.name,
    )
    return routes.find((route) => route.agent.name === name)?.agent.run?.(task)
  },

  acceptTextConsent,
})

function agentFor(message: Message, context: Conversation): Agent | undefined {
  return routes.find(({ wants }) => wants(message, context))?.agent
}
