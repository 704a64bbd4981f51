/** CloudEvents from outside. */
import { z } from 'zod'
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import { bounded, tooManyMembers } from './bounded.ts'
import { json } from './json-input.ts'
import { id, instant, text } from './primitives.ts'

/** Extension attributes: the types of CloudEvents 1.0.2, "Type System", that JSON can express. */
const attribute = z.union([text.max(2_048), z.boolean(), z.int32()], {
  error: 'must be a string, a boolean or a 32-bit integer; what is larger belongs into data',
})

const ATTRIBUTE_NAME = /^[a-z0-9]{1,256}$/

/** Attributes of one event, with those that CloudEvents defines. */
const ATTRIBUTES = 64

const uriReference = text.min(1).max(2_048)

/** In the JSON format of CloudEvents, `null` stands for an absent attribute. */
function withoutNulls(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
  const entries = Object.entries(event)
  return Object.fromEntries(entries.filter(([name, value]) => value !== null || name === 'data'))
}

const wholeEvent = z.preprocess(
  withoutNulls,
  z
    .object({
      specversion: z.literal('1.0').optional(),
      id,
      source: uriReference,
      type: id,
      subject: text.min(1).max(2_048).optional(),
      time: instant.optional(),
      datacontenttype: text.min(1).max(256).optional(),
      dataschema: uriReference.optional(),
      data: json.optional(),
      data_base64: z.base64().optional(),
    })
    .catchall(attribute)
    .superRefine((event, problems) => {
      const wrong = (name: string, message: string): void =>
        problems.addIssue({ code: 'custom', path: [name], message })
      for (const name of Object.keys(event)) {
        if (name === 'data_base64' || ATTRIBUTE_NAME.test(name)) continue
        wrong(name, 'is no name of an attribute: they have lower-case letters and digits only')
      }
      if (event.data !== undefined && event.data_base64 !== undefined) {
        wrong('data_base64', 'must not be there together with data')
      }
    }),
) as z.ZodType<CloudEvent>

export const cloudEvent: z.ZodType<CloudEvent> = bounded(wholeEvent, (event) =>
  tooManyMembers(event, ATTRIBUTES),
)
