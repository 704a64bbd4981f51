import type { ErrorName } from '../errors.ts'
import type { Case, Step } from '../model.ts'
import { ABSENT_ID, completed, FIRST, send, user } from '../steps.ts'
import { must } from './define.ts'

/** How each error of the table can be had from outside. The others need a card of their own (see CORE-CAP). */
const TRIGGERS: Readonly<Partial<Record<ErrorName, readonly Step[]>>> = {
  TaskNotFound: [{ do: 'get', with: { id: ABSENT_ID } }],
  TaskNotCancelable: [completed, { do: 'cancel', with: { id: FIRST } }],
  UnsupportedOperation: [completed, send(user('tck-complete-task', { taskId: FIRST }))],
  ContentTypeNotSupported: [
    send({
      ...user('tck-complete-task'),
      parts: [{ raw: 'VGVzdA==', mediaType: 'application/x-unsupported-by-anyone' }],
    }),
  ],
  VersionNotSupported: [{ do: 'get', with: { id: ABSENT_ID }, headers: { 'a2a-version': '99.0' } }],
}

export function table(
  id: string,
  section: string,
  title: string,
  expect: (name: ErrorName) => NonNullable<Extract<Step, { do: unknown }>['expect']>,
  more: Partial<Case>,
): readonly Case[] {
  return (Object.keys(TRIGGERS) as ErrorName[]).map((name) =>
    must(
      id,
      section,
      `${title}: ${name}`,
      (TRIGGERS[name] ?? []).map((step, i, all) =>
        i === all.length - 1 ? ({ ...step, expect: expect(name) } as Step) : step,
      ),
      { ...more, variant: name },
    ),
  )
}
