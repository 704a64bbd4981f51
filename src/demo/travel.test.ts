import { expect, it } from 'vitest'
import type { Task } from '../core/task.ts'
import { openConversation } from './test-support/conversation.ts'
import { acceptTextConsent, travel } from './travel.ts'

it('books a flight only after the user consented, and confirms it with a PDF', async () => {
  const client = await openConversation([travel])
  const asking = await client.ask('Book a flight to Helsinki for next week.')
  expect(asking.state).toBe('user-consent-required')
  expect(asking.statusMessage?.parts).toEqual([
    { text: 'Please confirm consent to proceed with booking the flight.' },
  ])
  expect(asking.artifacts).toEqual([])

  const booked = await client.ask('I consent to booking the flight.', {
    referenceTaskIds: [asking.id],
  })
  expect(booked.id).toBe(asking.id)
  expect(booked.state).toBe('completed')
  expect(booked.artifacts[0]).toMatchObject({
    name: 'flight_confirmation.pdf',
    description: 'Flight booking confirmation for Helsinki.',
    parts: [{ mediaType: 'application/pdf', filename: 'flight_confirmation.pdf' }],
  })
  expect(pdfOf(booked)).toContain('When: next week')
})

it('writes a PDF whose table of contents points at its objects', async () => {
  const client = await openConversation([travel])
  const file = pdfOf(await client.ask('Book a hotel in Turku'))
  const table = Number(/startxref\n(\d+)/.exec(file)?.[1])
  expect(file.slice(table, table + 4)).toBe('xref')
  const offsets = [...file.slice(table).matchAll(/^(\d{10}) 00000 n/gm)].map(([, at]) => Number(at))
  expect(offsets.map((at) => file.slice(at, at + 7))).toEqual(
    [1, 2, 3, 4, 5].map((number) => `${number} 0 obj`),
  )
})

it('asks again when the answer is neither yes nor no, and rejects the task on a no', async () => {
  const client = await openConversation([travel])
  const asking = await client.ask('Book a flight to Helsinki.')
  const again = await client.ask('What does it cost?', { taskId: asking.id })
  expect(again.state).toBe('user-consent-required')
  const refused = await client.ask('No, I do not', { taskId: asking.id })
  expect(refused.state).toBe('rejected')
})

it('asks where to when the request does not say it', async () => {
  const client = await openConversation([travel])
  const asking = await client.ask('Book a flight')
  expect(asking.state).toBe('input-required')
  const consent = await client.ask('Oslo', { taskId: asking.id })
  expect(consent.question?.consent?.operation).toEqual({ book: 'flight', to: 'Oslo' })
})

it('tells the Helsinki story: what builds on the flight runs side by side, and the spa does not wait', async () => {
  const client = await openConversation([travel])
  const asking = await client.ask('Book a flight to Helsinki for next week.')
  const flight = await client.ask('Yes', { taskId: asking.id })

  const snowmobile = await client.ask('Based on Task 1, book a snowmobile activity.', {
    referenceTaskIds: [flight.id],
  })
  expect(snowmobile.state).toBe('paused-by-agent')
  const hotel = await client.ask('Based on Task 1, book a hotel.', {
    referenceTaskIds: [flight.id],
  })
  expect(hotel.artifacts[0]?.description).toBe('Hotel booking confirmation for Helsinki.')

  const spa = await client.ask('Based on Task 2, add a spa reservation to the hotel booking.', {
    referenceTaskIds: [hotel.id],
  })
  expect(spa.artifacts[0]).toMatchObject({
    name: 'hotel_confirmation.pdf',
    description: 'Hotel booking confirmation for Helsinki, with a spa reservation.',
  })
  expect(spa.artifacts[0]?.artifactId).not.toBe(hotel.artifacts[0]?.artifactId)
  expect((await client.settled(snowmobile.id)).state).toBe('paused-by-agent')

  await client.emit({
    id: '1',
    source: 'operator',
    type: 'snowmobile.confirmed',
    subject: snowmobile.id,
  })
  const ridden = await client.settled(snowmobile.id)
  expect(ridden.artifacts[0]?.description).toBe('Snowmobile activity confirmation for Helsinki.')
})

it('takes the silence of the snowmobile operator for a yes', async () => {
  const client = await openConversation([travel])
  const waiting = await client.ask('Book a snowmobile in Rovaniemi')
  client.clock.advance(6_000)
  expect((await client.until(waiting.id, 'completed')).artifacts).toHaveLength(1)
})

it.each([
  ['I consent to booking the flight.', true],
  ['yes please', true],
  ['I do not consent', false],
  ['Which airline?', undefined],
])('reads "%s" as %s', (text, meant) => {
  expect(acceptTextConsent(text)).toBe(meant)
})

function pdfOf({ artifacts }: Task): string {
  const part = artifacts[0]?.parts[0]
  return Buffer.from(part !== undefined && 'raw' in part ? part.raw : '', 'base64').toString(
    'latin1',
  )
}
