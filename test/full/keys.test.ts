import { afterAll, beforeAll, describe } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { keysSuite } from '../support/keys-suite.ts'
import { freshLab } from '../support/lab.ts'
import { type UpCluster, upCluster } from '../support/up-cluster.ts'

describe('keys of a cluster that is in use', () => {
  let lab: Lab
  let cluster: UpCluster
  beforeAll(async () => {
    lab = await freshLab('keys')
    cluster = await upCluster(lab, '3+2', '1.37.1', { addons: true })
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await lab.down()
    }
  })
  keysSuite(() => cluster)
})
