/** Reads one part of a message or artifact. An unknown part is kept as data. */
import type { Json } from '../core/json.ts'
import type { Part, PartDetails } from '../core/message.ts'
import type { Version } from './version.ts'
import { memberOf, objectIn, present, textIn } from './wire/json-members.ts'

export const readPart: Readonly<Record<Version, (value: Json) => Part>> = {
  '1.0': readPart10,
  '0.3': readPart03,
}

function readPart10(value: Json): Part {
  const facts = partFacts(value, textIn(value, 'mediaType'), textIn(value, 'filename'))
  for (const name of ['text', 'raw', 'url'] as const) {
    const content = textIn(value, name)
    if (content !== undefined) return { [name]: content, ...facts } as Part
  }
  const data = memberOf(value, 'data')
  return { data: data === undefined ? value : data, ...facts }
}

function readPart03(value: Json): Part {
  const text = textIn(value, 'text')
  if (text !== undefined) return { text, ...partFacts(value) }
  const file = objectIn(value, 'file')
  if (file === undefined) {
    const data = memberOf(value, 'data')
    // REST of 0.3 wraps the value in another `data`.
    const inner = textIn(value, 'kind') === undefined ? memberOf(data, 'data') : undefined
    return { data: inner ?? data ?? value, ...partFacts(value) }
  }
  const facts = partFacts(value, textIn(file, 'mimeType'), textIn(file, 'name'))
  const bytes = textIn(file, 'bytes') ?? textIn(file, 'fileWithBytes')
  if (bytes !== undefined) return { raw: bytes, ...facts }
  return { url: textIn(file, 'uri') ?? textIn(file, 'fileWithUri') ?? '', ...facts }
}

function partFacts(value: Json, mediaType?: string, filename?: string): PartDetails {
  const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
  return present<PartDetails>({
    mediaType: given(mediaType),
    filename: given(filename),
    metadata: objectIn(value, 'metadata'),
  })
}
