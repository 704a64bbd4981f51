/**
 * Books a journey: a flight after the user's consent, then a hotel and activities. Each request is a task of its own.
 * Tasks that refer to the same booking run in parallel (A2A, "Life of a Task").
 */
import { type Agent, agent, type Outcome } from '../engine/author/agent.ts'
import type { AgentTask } from '../engine/author/agent-task.ts'
import {
  type Booking,
  type BookingKind,
  bookingOf,
  confirmation,
  confirmationName,
  referenceFor,
} from './booking.ts'

export const travel: Agent = agent({
  name: 'travel',
  description:
    'Books flights with your consent, and hotels, snowmobiles and spas that go with them',
  skills: [
    {
      id: 'book',
      name: 'Book a journey',
      description: 'Books a flight, or something based on an earlier booking of the conversation',
      tags: ['travel', 'booking'],
      examples: ['Book a flight to Helsinki for next week.', 'Based on the flight, book a hotel.'],
    },
  ],
  run: bookRequest,
  acceptTextConsent,
})

type Wish = BookingKind | 'spa'

/** The first match counts: a request for a spa also names a hotel, and one for a hotel may name a flight. */
const wishes: readonly (readonly [Wish, RegExp])[] = [
  ['spa', /\bspa\b/i],
  ['snowmobile', /\bsnowmobiles?\b/i],
  ['hotel', /\b(hotel|room)\b/i],
  ['flight', /\b(flight|fly)\b/i],
]

export function wishIn(text: string): Wish | undefined {
  return wishes.find(([, words]) => words.test(text))?.[0]
}

const carryOut: Readonly<Record<Wish, (task: AgentTask) => Promise<Outcome>>> = {
  flight: bookFlight,
  hotel: bookHotel,
  snowmobile: bookSnowmobile,
  spa: addSpa,
}

export async function bookRequest(task: AgentTask): Promise<Outcome> {
  let wish = wishIn(task.text)
  while (wish === undefined) {
    const question = 'What shall I book: a flight, a hotel, a snowmobile or a spa?'
    wish = wishIn((await task.ask(question)).text)
  }
  return carryOut[wish](task)
}

async function bookFlight(task: AgentTask): Promise<Outcome> {
  const city = cityIn(task.text) ?? (await task.ask('Where would you like to fly?')).text.trim()
  const when = /\bfor (.+?)[.!?]*$/im.exec(task.text)?.[1]
  const operation = { book: 'flight', to: city, ...(when === undefined ? {} : { when }) }
  await task.requireConsent({
    prompt: 'Please confirm consent to proceed with booking the flight.',
    operation,
  })
  return confirmation(await book(task, 'flight', { city, ...(when === undefined ? {} : { when }) }))
}

async function bookHotel(task: AgentTask): Promise<Outcome> {
  return confirmation(await book(task, 'hotel', await journey(task, 'hotel')))
}

/** Parks until the operator of the snowmobiles answers. Without an answer the deadline confirms the booking. */
async function bookSnowmobile(task: AgentTask): Promise<Outcome> {
  const plan = await journey(task, 'snowmobile')
  await task.park({
    reason: 'waiting for the snowmobile operator',
    onEvent: `snowmobile.confirmed:${task.id}`,
    timeout: { durationMinutes: OPERATOR_MINUTES, onTimeout: 'resume_with_input' },
    summary: `Asked for a snowmobile in ${plan.city}`,
  })
  return confirmation(await book(task, 'snowmobile', plan))
}

const OPERATOR_MINUTES = 0.1

/** A refinement: writes the confirmation of the hotel again, under the same name. */
async function addSpa(task: AgentTask): Promise<Outcome> {
  const found = await task.pickArtifact(confirmationName('hotel'))
  const hotel = bookingOf(found?.artifact)
  const spa = await task.step('reserve the spa', () => 'a spa reservation')
  const before = hotel ?? (await book(task, 'hotel', await journey(task, 'hotel')))
  return confirmation({ ...before, extras: [...(before.extras ?? []), spa] })
}

/** City and date: from the request, else from the booking it refers to, else by asking the user. */
async function journey(
  task: AgentTask,
  kind: BookingKind,
): Promise<Pick<Booking, 'city' | 'when'>> {
  const named = cityIn(task.text)
  if (named !== undefined) return { city: named }
  const flight = bookingOf((await task.pickArtifact(confirmationName('flight')))?.artifact)
  if (flight !== undefined) {
    return { city: flight.city, ...(flight.when === undefined ? {} : { when: flight.when }) }
  }
  const answer = await task.ask(`In which city do you need the ${kind}?`)
  return { city: cityIn(answer.text) ?? answer.text.trim() }
}

function book(
  task: AgentTask,
  kind: BookingKind,
  plan: Pick<Booking, 'city' | 'when'>,
): Promise<Booking> {
  return task.step(`book the ${kind}`, ({ idempotencyKey }) => ({
    kind,
    ...plan,
    reference: referenceFor(kind, idempotencyKey),
  }))
}

/** The city in a text such as "to Helsinki" or "in New York". */
function cityIn(text: string): string | undefined {
  return /\b(?:to|in) (\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*)/u.exec(text)?.[1]
}

/** True for yes, false for no. Undefined for any other text: the question is asked again. */
export function acceptTextConsent(text: string): boolean | undefined {
  if (/\b(no|not|don't|deny|refuse|decline|stop)\b/i.test(text)) return false
  if (/\b(yes|consent|agree|confirm|approve|go ahead)\b/i.test(text)) return true
  return undefined
}
