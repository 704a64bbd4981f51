/** Lull's own promise: the user's consent (extension urn:lull:a2a:user-consent:1). */
import { byVersion, has, is, isTask, matches, state, succeeds } from '../checks.ts'
import type { Args, Case, Check, Step } from '../model.ts'
import { FIRST, get, script, send } from '../steps.ts'
import { must } from './define.ts'
import { showsState } from './ext-steps.ts'

const URI = 'urn:lull:a2a:user-consent:1'
const OURS = { versions: ['1.0', '0.3'], needs: ['user-consent'] } as const

const asking: Step = send(
  script([
    { consent: { prompt: 'Force-push main?', operation: { push: 'main', sha: 'abc' } } },
    { complete: 'pushed' },
  ]),
  { as: 'first', expect: [succeeds, isTask] },
)

const ASKING = { '1.0': 'TASK_STATE_AUTH_REQUIRED', '0.3': 'TASK_STATE_INPUT_REQUIRED' } as const

const required: Check = showsState('user-consent-required', ASKING, URI)

const CONSENT_ID = `$asked.task.metadata.${URI}.consentId`
const asked = get(FIRST, { as: 'asked', expect: [required] })

const decide = (facts: Args, more: Args = {}): Step =>
  send(
    {
      messageId: 'decision-{new.id}',
      role: 'ROLE_USER',
      parts: [{ text: 'See the decision' }],
      taskId: FIRST,
      extensions: [URI],
      metadata: { [URI]: facts },
      ...more,
    },
    { as: 'decided', expect: [succeeds] },
  )

export const EXT_CONSENT: readonly Case[] = [
  must(
    'LULL-CONSENT-001',
    'consent',
    'A task that needs consent says for what',
    [
      asking,
      get(FIRST, {
        expect: [
          required,
          matches('task.status.message.parts.0.text', /Force-push main\?/),
          byVersion({
            '1.0': has(`task.metadata.${URI}.consentId`, `task.metadata.${URI}.digest`),
            '0.3': isTask,
          }),
          byVersion({
            '1.0': is(`task.metadata.${URI}.operation`, { push: 'main', sha: 'abc' }),
            '0.3': isTask,
          }),
        ],
      }),
    ],
    OURS,
  ),
  must(
    'LULL-CONSENT-002',
    'consent',
    'Granted consent lets the task go on',
    [
      asking,
      asked,
      decide({ consentId: CONSENT_ID, decision: 'granted' }),
      { ...get(FIRST), until: state('COMPLETED') },
    ],
    OURS,
  ),
  must(
    'LULL-CONSENT-003',
    'consent',
    'Denied consent ends the task as rejected',
    [
      asking,
      asked,
      decide({ consentId: CONSENT_ID, decision: 'denied' }),
      { ...get(FIRST), until: state('REJECTED') },
    ],
    OURS,
  ),
  must(
    'LULL-CONSENT-004',
    'consent',
    'Words alone are no consent',
    [
      asking,
      send(
        {
          messageId: 'words-{new.id}',
          role: 'ROLE_USER',
          parts: [{ text: 'I consent' }],
          taskId: FIRST,
        },
        { expect: [succeeds] },
      ),
      get(FIRST, { expect: [required] }),
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds] },
    ],
    OURS,
  ),
  must(
    'LULL-CONSENT-005',
    'consent',
    'The consent of another question is no consent',
    [
      asking,
      {
        ...decide({ consentId: 'consent-of-something-else', decision: 'granted' }),
        expect: [],
      } as Step,
      get(FIRST, { expect: [required] }),
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds] },
    ],
    OURS,
  ),
]
