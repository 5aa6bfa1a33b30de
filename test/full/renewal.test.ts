import { describe } from 'vitest'
import { certificateLifetime, renewalSuite } from '../support/renewal-suite.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

describe('certificates that renew themselves', () => {
  const clusterNow = setUpCluster('renewal', '3+1', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) => document.setIn(['spec', 'certificates', 'lifetime'], certificateLifetime)),
  })
  renewalSuite(clusterNow)
})
