import type { ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import type { ClusterUnderTest, Subject } from './subject.ts'

/** A connection to a shared store, including its cluster part. */
type Process = Store & { readonly cluster: ClusterStore }

function asProcess(store: Store): Process {
  const { cluster } = store
  if (cluster === undefined) throw new Error('the store has no cluster part')
  return { ...store, cluster }
}

/** Two connections to the same data, and the store's clock. */
export async function two(
  subject: Subject,
): Promise<{ a: Process; b: Process; pass: ClusterUnderTest['pass'] }> {
  if (subject.cluster === undefined) throw new Error('the store under test has no cluster part')
  const { connect, pass } = subject.cluster
  return { a: asProcess(subject.store), b: asProcess(await connect()), pass }
}
