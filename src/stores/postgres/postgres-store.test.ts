import * as vitest from 'vitest'
import { describeStoreContract } from '../../testing/store-contract.ts'
import { describeStoreModel } from '../test-support/store-model.ts'
import { storeMaker } from './test-support/new-schema.ts'

const makeStore = storeMaker()

describeStoreContract(vitest, 'the PostgreSQL store', makeStore, true)
describeStoreModel('the PostgreSQL store', makeStore)
