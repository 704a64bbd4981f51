import * as vitest from 'vitest'
import { describeStoreContract } from '../../testing/store-contract.ts'
import { describeStoreModel } from '../test-support/store-model.ts'
import { databaseWith, storeMaker } from './test-support/new-schema.ts'

describeStoreContract(vitest, 'the PostgreSQL store', storeMaker(), true)
// Without waiting for the disk, because hundreds of small histories would only wait for it.
describeStoreModel(
  'the PostgreSQL store',
  storeMaker({ url: databaseWith('synchronous_commit=off') }),
)
