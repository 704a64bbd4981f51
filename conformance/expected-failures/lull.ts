/** What Lull's server does differently, on purpose. */
import type { ExpectedFailure } from '../runner/expected-failures.ts'

const TABLE = 'Lull answers with the error table of 1.0.1, which replaces the one of 1.0.0'

export const LULL: readonly ExpectedFailure[] = [
  { key: 'HTTP_JSON-STATUS-001#TaskNotCancelable', profiles: ['1.0.0'], reason: TABLE },
  { key: 'HTTP_JSON-STATUS-001#ContentTypeNotSupported', profiles: ['1.0.0'], reason: TABLE },
]
