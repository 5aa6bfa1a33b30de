import { describe } from 'vitest'
import { lifetime, renewalSuite } from '../support/renewal-suite.ts'
import { suiteCluster } from '../support/suite-cluster.ts'

describe('certificates that renew themselves', () => {
  const clusterNow = suiteCluster('renewal', '3+1', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) => document.setIn(['spec', 'certificates', 'lifetime'], lifetime)),
  })
  renewalSuite(clusterNow)
})
