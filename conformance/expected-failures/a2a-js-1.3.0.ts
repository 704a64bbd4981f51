/**
 * What the official SDK's server (`@a2a-js/sdk` 1.3.0, Express, DefaultRequestHandler) does differently. Seen by this
 * runner; kept as a check on the runner itself.
 */
import type { ExpectedFailure } from '../runner/expected-failures.ts'

const MEDIA =
  'media types are checked only with the option validateInputModes, which is off by default'
const INVALID_REQUEST = 'what is no JSON-RPC request is answered with -32602 or -32700'
const REQUIRED_FIELDS = 'required fields of messages are not checked'

export const A2A_JS_1_3_0: readonly ExpectedFailure[] = [
  { key: 'CORE-SEND-003', reason: MEDIA },
  { key: 'JSONRPC-ERR-002#ContentTypeNotSupported', reason: MEDIA },
  { key: 'JSONRPC-ERR-003#ContentTypeNotSupported', reason: MEDIA },
  { key: 'JSONRPC-SSE-002#ContentTypeNotSupported', reason: MEDIA },
  { key: 'HTTP_JSON-ERR-002#ContentTypeNotSupported', reason: MEDIA },
  { key: 'HTTP_JSON-STATUS-001#ContentTypeNotSupported', reason: MEDIA },
  { key: 'V03-ERR-32005', reason: MEDIA },

  { key: 'CORE-ERR-002#no-parts', reason: REQUIRED_FIELDS },
  { key: 'CORE-ERR-002#no-role', reason: REQUIRED_FIELDS },
  { key: 'CORE-ERR-002#parts-not-an-array', reason: REQUIRED_FIELDS },
  { key: 'SPEC-PARTS-EMPTY', reason: REQUIRED_FIELDS },
  { key: 'SPEC-PART-ONEOF', reason: REQUIRED_FIELDS },
  { key: 'SPEC-ROLE-UNKNOWN', reason: 'an unknown role becomes the unspecified one' },
  { key: 'PUSH-CREATE-001#no-url', reason: 'a push configuration may lack its address' },
  {
    key: 'SPEC-HISTORY-NEGATIVE',
    lanes: ['1.0/jsonrpc'],
    reason: 'a negative historyLength is refused over REST only',
  },
  { key: 'SPEC-RPC-PARAMS', reason: 'a number is taken for a task id' },

  { key: 'SPEC-RPC-INVALID-REQUEST#an-empty-object', reason: INVALID_REQUEST },
  { key: 'SPEC-RPC-INVALID-REQUEST#an-empty-batch', reason: INVALID_REQUEST },
  { key: 'SPEC-RPC-INVALID-REQUEST#a-batch', reason: INVALID_REQUEST },
  { key: 'SPEC-RPC-INVALID-REQUEST#a-number', reason: INVALID_REQUEST },
  { key: 'SPEC-RPC-INVALID-REQUEST#a-wrong-version', reason: INVALID_REQUEST },
  { key: 'SPEC-RPC-INVALID-REQUEST#an-id-of-a-wrong-type', reason: INVALID_REQUEST },

  { key: 'VER-CLIENT-002', reason: 'a version with patch digits is -32009' },
  { key: 'SPEC-VER-QUERY', reason: 'the query parameter A2A-Version is ignored' },
  {
    key: 'SPEC-BODY-SIZE',
    reason: 'bodies over 100 KB are a bare 413: the default of express.json',
  },
  { key: 'SPEC-LIST-AFTER', reason: 'statusTimestampAfter excludes the instant itself' },
  {
    key: 'SPEC-LIST-CURSOR',
    reason:
      'the cursor is looked up by its exact timestamp: when that task changes, the rest is gone',
  },
  {
    key: 'SPEC-STREAM-AFTER-INTERRUPT',
    reason: 'subscriptions close at the next interruption',
  },
  { key: 'V03-LIST-REST', reason: '/v1/tasks is read as the 1.0 list of a tenant named v1' },
  {
    key: 'V03-CARD-TRANSPORTS',
    reason: 'additionalInterfaces does not repeat the main address',
  },

  {
    key: 'HTTP_JSON-SVC-001',
    profiles: ['1.0.0'],
    reason: 'answers are application/a2a+json, which is 1.0.1',
  },
  {
    key: 'HTTP_JSON-STATUS-001#TaskNotCancelable',
    profiles: ['1.0.0'],
    reason: 'the error table is the one of 1.0.1: 400, not 409',
  },
]
