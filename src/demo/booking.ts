/** A booking of the travel agent, as text and as a document. It is stored in the metadata of its confirmation. */

import type { Artifact } from '../core/messages/message.ts'
import type { ArtifactInput } from '../engine/author/agent-task.ts'

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

/** Encodes one page of text as PDF 1.4: one font, a title and lines. */
const MARGIN = 72
const TOP = 740

/** @param lines Latin text; other characters become question marks */
function encodePdf(title: string, lines: readonly string[]): Buffer {
  const text = [
    'BT',
    `/F1 20 Tf ${MARGIN} ${TOP} Td (${literal(title)}) Tj`,
    '/F1 12 Tf 0 -14 Td',
    ...lines.map((line) => `0 -20 Td (${literal(line)}) Tj`),
    'ET',
  ].join('\n')

  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${Buffer.byteLength(text, 'latin1')} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ])
}

/** The objects, then the table with the byte offset of each object. */
function assemble(objects: readonly string[]): Buffer {
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const table = file.length
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}

function literal(text: string): string {
  return text.replace(/[\\()]/g, (one) => `\\${one}`).replace(/[^\x20-\x7e\xa0-\xff]/g, '?')
}
