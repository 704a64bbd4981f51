/** A booking of the travel agent, as text and as a document. It is stored in the metadata of its confirmation. */
import type { Artifact } from '../core/messages/message.ts'
import type { ArtifactInput } from '../engine/author/agent-task.ts'
import { encodePdf } from './pdf.ts'

export type BookingKind = 'flight' | 'hotel' | 'snowmobile'

export interface Booking {
  readonly kind: BookingKind
  readonly city: string
  readonly when?: string
  readonly reference: string
  /** Services that were added later. */
  readonly extras?: readonly string[]
}

const words: Readonly<Record<BookingKind, string>> = {
  flight: 'Flight booking',
  hotel: 'Hotel booking',
  snowmobile: 'Snowmobile activity',
}

export function confirmationName(kind: BookingKind): string {
  return `${kind}_confirmation.pdf`
}

/** A booking reference that is equal for every attempt of one step. */
export function referenceFor(kind: BookingKind, idempotencyKey: string): string {
  let hash = 0
  for (const character of idempotencyKey) {
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0
  }
  return `${kind.slice(0, 2).toUpperCase()}-${hash.toString(36).toUpperCase().padStart(7, '0')}`
}

export function confirmation(booking: Booking): ArtifactInput {
  const { kind, city, when, reference, extras = [] } = booking
  const title = `${words[kind]} confirmation`
  const lines = [
    `Destination: ${city}`,
    ...(when === undefined ? [] : [`When: ${when}`]),
    `Reference: ${reference}`,
    ...extras.map((extra) => `Added: ${extra}`),
    'This is a demonstration: nothing was booked.',
  ]
  const added = extras.length === 0 ? '' : `, with ${extras.join(', ')}`
  return {
    name: confirmationName(kind),
    description: `${title} for ${city}${added}.`,
    mediaType: 'application/pdf',
    base64: encodePdf(title, lines).toString('base64'),
    metadata: { booking: { ...booking } },
  }
}

export function bookingOf(artifact: Artifact | undefined): Booking | undefined {
  return artifact?.metadata?.['booking'] as Booking | undefined
}
