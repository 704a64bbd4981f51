/** The manifest: every case, in the order of the specification. */
import type { Case } from '../model.ts'
import { AUTH } from './auth.ts'
import { CARDS } from './card.ts'
import { CONVERSATION } from './conversation.ts'
import { DATA_MODEL } from './data-model.ts'
import { ERRORS_CAPABILITIES } from './errors-capabilities.ts'
import { EXT_CONSENT } from './ext-consent.ts'
import { EXT_PAUSE } from './ext-pause.ts'
import { EXT_REMINDERS } from './ext-reminders.ts'
import { EXT_RESUME } from './ext-resume.ts'
import { EXT_STATE } from './ext-state.ts'
import { EXT_STREAMS } from './ext-streams.ts'
import { INTEROP } from './interop.ts'
import { JSONRPC_BINDING } from './jsonrpc-binding.ts'
import { OPERATIONS } from './operations.ts'
import { PUSHES } from './push.ts'
import { REST_BINDING } from './rest-binding.ts'
import { SPEC } from './spec.ts'
import { STREAMS } from './streaming.ts'
import { V03_CARDS } from './v03-card.ts'
import { V03_JSONRPC } from './v03-jsonrpc.ts'
import { V03_METHODS } from './v03-methods.ts'
import { V03_SECURITY } from './v03-security.ts'
import { VERSIONS } from './version.ts'

export const MANIFEST: readonly Case[] = [
  ...OPERATIONS,
  ...CONVERSATION,
  ...ERRORS_CAPABILITIES,
  ...STREAMS,
  ...DATA_MODEL,
  ...PUSHES,
  ...CARDS,
  ...JSONRPC_BINDING,
  ...REST_BINDING,
  ...INTEROP,
  ...VERSIONS,
  ...AUTH,
  ...SPEC,
  ...V03_JSONRPC,
  ...V03_METHODS,
  ...V03_CARDS,
  ...V03_SECURITY,
  ...EXT_PAUSE,
  ...EXT_RESUME,
  ...EXT_STATE,
  ...EXT_STREAMS,
  ...EXT_REMINDERS,
  ...EXT_CONSENT,
]
