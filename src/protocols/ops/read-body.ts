import { LullError } from '../../core/errors.ts'

/** The engine validates the members. @throws LullError `INVALID_INPUT` */
export function objectIn<T extends object>(body: unknown): T {
  if (typeof body === 'object' && body !== null) return body as T
  throw new LullError('INVALID_INPUT', { path: '', problem: 'must be a JSON object' })
}
