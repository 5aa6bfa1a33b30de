import { describe } from 'vitest'
import { setUpCluster } from '../support/suite-cluster.ts'
import { provisionalSuite } from '../support/trial-suite.ts'

describe('provisional changes', () => {
  provisionalSuite(setUpCluster('provisional', '3+1', '1.37.1', { survivesPowerCut: true }))
})
