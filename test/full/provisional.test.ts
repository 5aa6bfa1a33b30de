import { describe } from 'vitest'
import { suiteCluster } from '../support/suite-cluster.ts'
import { trialSuite } from '../support/trial-suite.ts'

describe('changes on trial', () => {
  trialSuite(suiteCluster('trial', '3+1', '1.37.1', { mortal: true }))
})
