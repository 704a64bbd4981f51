/**
 * The contract of a `Store` as tests, with D1 to D4 of `ports/store.ts`. The caller provides the
 * test runner.
 *
 *   import * as vitest from 'vitest'
 *   describeStoreContract(vitest, 'my store', async () => ({ store, reopen, cleanup }))
 */

import { audit } from './store-contract/audit.ts'
import { claims } from './store-contract/claims.ts'
import { cluster } from './store-contract/cluster.ts'
import { commits } from './store-contract/commits.ts'
import { events } from './store-contract/events.ts'
import { hostileContent } from './store-contract/hostile-content.ts'
import { lists, openTasks } from './store-contract/lists.ts'
import { notes, policies } from './store-contract/policies.ts'
import { pushes } from './store-contract/pushes.ts'
import { retention } from './store-contract/retention.ts'
import { sessions } from './store-contract/sessions.ts'
import { type MakeStore, openForEachTest, type TestKit } from './store-contract/subject.ts'
import { usage } from './store-contract/usage.ts'
import { work } from './store-contract/work.ts'

export type {
  AsyncMatchers,
  ClusterUnderTest,
  Expect,
  MakeStore,
  Matchers,
  StoreUnderTest,
  TestKit,
} from './store-contract/subject.ts'

/** @param isShared whether the store has a `cluster` part */
export function describeStoreContract(
  kit: TestKit,
  name: string,
  makeStore: MakeStore,
  isShared = false,
): void {
  const { describe } = kit
  describe(name, () => {
    const subject = openForEachTest(kit, makeStore)
    describe('commits', () => commits(subject))
    describe('lists', () => lists(subject))
    describe('tasks that have not ended', () => openTasks(subject))
    describe('tasks with something to do', () => work(subject))
    describe('events', () => events(subject))
    describe('values and holds', () => notes(subject))
    describe('budgets and rules', () => policies(subject))
    describe('claims and replies', () => claims(subject))
    describe('sessions', () => sessions(subject))
    describe('webhooks', () => pushes(subject))
    describe('audit', () => audit(subject))
    describe('retention', () => retention(subject))
    describe('what is stored', () => usage(subject))
    describe('hostile content', () => hostileContent(subject))
    if (isShared) describe('several processes', () => cluster(subject))
  })
}
