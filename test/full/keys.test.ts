import { describe } from 'vitest'
import { keysSuite } from '../support/keys-suite.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

describe('keys of a cluster that is in use', () => {
  keysSuite(setUpCluster('keys', '3+2', '1.37.1', { addons: true }))
})
