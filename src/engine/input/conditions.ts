/** Conditions that wake a stopped task. */
import { z } from 'zod'
import type {
  EventFilter,
  ResumeConditions,
  Timeout,
  Trigger,
} from '../../core/waiting/conditions.ts'
import { bounded, list, tooLarge } from './bounded.ts'
import { type FieldsOf, type KeysOfEach, unionOf } from './exhaustive.ts'
import { json } from './json-input.ts'
import { BLANK, instant, NOT_BLANK, text } from './primitives.ts'
import { onTimeout, since } from './unions.ts'

/** What an attribute begins or ends with. */
const wanted = text.min(1).max(2_048)

const attributes = (value: z.ZodType): z.ZodType =>
  z
    .record(text.min(1).max(1_024), value)
    .refine((wants) => Object.keys(wants).length > 0, 'must name at least one attribute')
    .meta({ minProperties: 1 })

/** Values and names of a filter, at any depth. An event is compared with all of them. */
const FILTER_SIZE = 256

const filterDialects: Readonly<Record<KeysOfEach<EventFilter>, () => z.ZodType>> = {
  exact: () => z.strictObject({ exact: attributes(json) }),
  prefix: () => z.strictObject({ prefix: attributes(wanted) }),
  suffix: () => z.strictObject({ suffix: attributes(wanted) }),
  all: () => z.strictObject({ all: list(eventFilter, FILTER_SIZE, 1) }),
  any: () => z.strictObject({ any: list(eventFilter, FILTER_SIZE, 1) }),
  not: () => z.strictObject({ not: eventFilter }),
}

export const eventFilter: z.ZodType<EventFilter> = z.lazy(() =>
  unionOf(
    Object.values(filterDialects).map((dialect) => dialect()),
    'must be exactly one of exact, prefix, suffix, all, any, not',
  ),
) as z.ZodType<EventFilter>

/** A filter that an event can be compared with in a short time. */
export const boundedFilter: z.ZodType<EventFilter> = bounded(eventFilter, (filter) =>
  tooLarge(filter, FILTER_SIZE),
)

const triggerKinds: Readonly<Record<KeysOfEach<Trigger>, z.ZodType>> = {
  filter: z.strictObject({ filter: boundedFilter }),
  schedule: z.strictObject({
    schedule: z.strictObject({
      cron: text.min(1).max(256),
      timezone: text.min(1).max(64).optional(),
    }),
  }),
  at: z.strictObject({ at: instant }),
}

const trigger = unionOf(
  Object.values(triggerKinds),
  'must be an object with exactly one of filter, schedule, at',
) as z.ZodType<Trigger>

const timeoutFields = {
  durationMinutes: z.number().positive('must be greater than 0').max(527_040_000),
  onTimeout: onTimeout.optional(),
  input: json.optional(),
} satisfies FieldsOf<Timeout>

/** The type of an event, or its type and subject with a colon between them. */
export const eventName: z.ZodString = text
  .regex(/^[^\p{Cc}\p{Cn}]{1,256}$/u, 'must be 1 to 256 printable characters')
  .regex(NOT_BLANK, BLANK)

const conditionFields = {
  onEvent: eventName.optional(),
  trigger: trigger.optional(),
  timeout: (z.strictObject(timeoutFields) as z.ZodType<Timeout>).optional(),
  since: since.optional(),
} satisfies FieldsOf<ResumeConditions>

export const resumeConditions: z.ZodType<ResumeConditions> = z.strictObject(
  conditionFields,
) as z.ZodType<ResumeConditions>
