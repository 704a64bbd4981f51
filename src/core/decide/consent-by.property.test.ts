/** Who may grant a consent: `requireConsent({ by })` narrows it, and denying is for everybody who may answer. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Decider } from '../commands.ts'
import type { ConsentBy } from '../records.ts'
import { asked, client, run, send } from '../test-support/story.ts'

const people = fc.constantFrom('ann', 'ben', 'cay')
const scopes = fc.subarray(['tasks:answer:all', 'ops:control', 'tasks:read'])
const deciders: fc.Arbitrary<Decider> = fc.record({
  principal: people,
  isStarter: fc.boolean(),
  scopes,
})
const rules: fc.Arbitrary<ConsentBy> = fc.oneof(
  fc.constant('other' as const),
  people.map((principal) => ({ principal })),
  fc.constantFrom('tasks:answer:all', 'ops:control').map((withScope) => ({ withScope })),
)

function isMeant(by: ConsentBy, { principal, isStarter, scopes: has }: Decider): boolean {
  if (by === 'other') return !isStarter
  return 'principal' in by ? by.principal === principal : has.includes(by.withScope)
}

const consent = { consentId: 'consent-1', digest: 'd', operation: { push: 'main' } }

it('is granted by those whom it names alone, denied by everybody, and a refusal changes nothing', () => {
  fc.assert(
    fc.property(rules, deciders, fc.boolean(), (by, decider, isGrant) => {
      const story = asked({ state: 'user-consent-required', consent: { ...consent, by } })
      const before = story.task
      const decision = isGrant ? 'granted' : 'denied'
      const content = { comment: 'because' }
      const answer = send('m-1', { consentId: 'consent-1', decision, content, decider })
      if (isGrant && !isMeant(by, decider)) {
        expect(story.refusal(answer).code).toBe('CONSENT_NOT_YOURS')
        expect(story.task).toBe(before)
        return
      }
      const records = story.tell({ ...answer, run: run('run-2') })
      expect(records).toMatchObject([{ type: 'answered', decision, content, actor: client }])
      expect(story.task.lastAnswer).toMatchObject({ actor: client, decision })
    }),
  )
})

it('is granted by nobody without the facts about who grants it', () => {
  fc.assert(
    fc.property(rules, (by) => {
      const story = asked({ state: 'user-consent-required', consent: { ...consent, by } })
      const answer = send('m-1', { consentId: 'consent-1', decision: 'granted' })
      expect(story.refusal(answer).code).toBe('CONSENT_NOT_YOURS')
    }),
  )
})
