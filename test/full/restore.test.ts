import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from 'vitest'
import { restoreEvidence } from '../support/restore-evidence.ts'
import { restoreSuite } from '../support/restore-suite.ts'
import { suiteCluster } from '../support/suite-cluster.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/restore.md')
const [shape, kubernetes] = ['3+1', '1.37.1'] as const

describe('hyperkube etcd snapshot restore, 100,000 keys', () => {
  restoreSuite(suiteCluster('restore', shape, kubernetes), {
    keys: 100_000,
    cut: true,
    report: async (figures) => writeFile(evidence, restoreEvidence(figures, shape, kubernetes)),
  })
})
