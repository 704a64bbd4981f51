/**
 * Scripts with the behaviour that the official test kits expect from the agent under test. The
 * prefix of the `messageId` (A2A TCK) or of the text (ACTS) selects a script.
 */
import { type Message, textOf } from '../../core/messages/message.ts'
import type { ScriptOp } from './ops.ts'

const done: ScriptOp = { complete: 'Hello from TCK' }
const textArtifact: ScriptOp = { artifact: { name: 'output', text: 'Generated text content' } }
const fileArtifact: ScriptOp = {
  artifact: {
    name: 'output.txt',
    base64: btoa('Generated text content'),
    mediaType: 'text/plain',
  },
}
const chunkedArtifact: ScriptOp = {
  artifact: { name: 'output', text: 'Generated text content', chunks: 2 },
}

/** More than twice the kit's streaming timeout (2 s). */
const RESUBSCRIBE_MS = 5_000
const LONG_MS = 2_000
const HOUR_MS = 3_600_000

const scripts: Readonly<Record<string, readonly ScriptOp[]>> = {
  'tck-complete-task': [done],
  // The prefix of the answer selects the script that follows.
  'tck-input-required': [{ ask: 'What should be done?' }],
  'tck-artifact-text': [textArtifact, done],
  'tck-artifact-file': [fileArtifact, done],
  'tck-artifact-file-url': [
    {
      artifact: {
        name: 'output.txt',
        url: 'https://example.com/output.txt',
        mediaType: 'text/plain',
      },
    },
    done,
  ],
  'tck-artifact-data': [{ artifact: { name: 'output', data: { key: 'value', count: 42 } } }, done],
  'tck-message-response': [{ reply: 'Direct message response' }],
  'tck-reject-task': [{ reject: 'Rejected, as asked' }],
  'tck-stream-001': [textArtifact, done],
  'tck-stream-002': [done],
  'tck-stream-003': [textArtifact, done],
  'tck-stream-ordering-001': [textArtifact, done],
  'tck-stream-artifact-text': [textArtifact, done],
  'tck-stream-artifact-file': [fileArtifact, done],
  'tck-stream-artifact-chunked': [chunkedArtifact, done],
  'test-resubscribe-message-id': [{ step: 'stay', ms: RESUBSCRIBE_MS }, done],
  'tck-long-running': [{ step: 'stay', ms: LONG_MS }, done],
  'tck-multi-turn': [{ ask: 'And what else?' }, done],
  'tck-cancel': [{ step: 'wait to be canceled', ms: HOUR_MS }, done],
  'tck-stream-basic': [textArtifact, done],
  'tck-stream-chunked': [chunkedArtifact, done],
  'tck-task-failure': [{ fail: 'Failed, as asked' }],
}

/**
 * The longest comes first, so that `tck-artifact-file-url` is not mistaken for `tck-artifact-file`.
 */
const prefixes = Object.keys(scripts).sort((a, b) => b.length - a.length)

export function conventionFor(message: Message): readonly ScriptOp[] | undefined {
  const says = [message.messageId, textOf(message)]
  const prefix = prefixes.find((one) => says.some((said) => said.startsWith(one)))
  return prefix === undefined ? undefined : scripts[prefix]
}
