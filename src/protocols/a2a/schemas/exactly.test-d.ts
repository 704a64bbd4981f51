/** Cases that the compiler must accept or refuse. `tsc` checks them; nothing here runs. */
import { z } from 'zod'
import { exactly } from './vocabulary.ts'

interface Shape {
  readonly a: string
  readonly b?: readonly number[]
}

const a = z.string()
const b = z.array(z.number())

exactly<Shape>()(z.strictObject({ a, b: b.exactOptional() }))
// @ts-expect-error the schema has no b
exactly<Shape>()(z.strictObject({ a }))
// @ts-expect-error the type has no c
exactly<Shape>()(z.strictObject({ a, b: b.exactOptional(), c: z.null() }))
// @ts-expect-error b may be left out, but not be undefined
exactly<Shape>()(z.strictObject({ a, b: b.optional() }))
// @ts-expect-error the schema is narrower than the type
exactly<Shape>()(z.strictObject({ a: z.literal('x'), b: b.exactOptional() }))
