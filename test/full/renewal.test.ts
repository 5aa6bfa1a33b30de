import { afterAll, beforeAll, describe } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from '../support/lab.ts'
import { lifetime, renewalSuite } from '../support/renewal-suite.ts'
import { type UpCluster, upCluster } from '../support/up-cluster.ts'

describe('certificates that renew themselves', () => {
  let lab: Lab
  let cluster: UpCluster
  beforeAll(async () => {
    lab = await freshLab('renewal')
    cluster = await upCluster(lab, '3+1', '1.37.1', {
      prepare: async ({ edit }) =>
        edit((document) => document.setIn(['spec', 'certificates', 'lifetime'], lifetime)),
    })
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await lab.down()
    }
  })
  renewalSuite(() => cluster)
})
