import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from '../support/lab.ts'
import { restoreEvidence } from '../support/restore-evidence.ts'
import { restoreSuite } from '../support/restore-suite.ts'
import { type UpCluster, upCluster } from '../support/up-cluster.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/restore.md')
const [shape, kubernetes] = ['3+1', '1.37.1'] as const

describe('hyperkube etcd snapshot restore, 100,000 keys', () => {
  let lab: Lab
  let cluster: UpCluster
  beforeAll(async () => {
    lab = await freshLab('restore')
    cluster = await upCluster(lab, shape, kubernetes)
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await lab.down()
    }
  })
  restoreSuite(() => cluster, {
    keys: 100_000,
    cut: true,
    report: async (figures) => writeFile(evidence, restoreEvidence(figures, shape, kubernetes)),
  })
})
