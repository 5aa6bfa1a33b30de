import { afterAll, beforeAll, describe } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from '../support/lab.ts'
import { trialSuite } from '../support/trial-suite.ts'
import { type UpCluster, upCluster } from '../support/up-cluster.ts'

describe('changes on trial', () => {
  let lab: Lab
  let cluster: UpCluster
  beforeAll(async () => {
    lab = await freshLab('trial')
    cluster = await upCluster(lab, '3+1', '1.37.1')
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await lab.down()
    }
  })
  trialSuite(
    () => lab,
    () => cluster,
  )
})
