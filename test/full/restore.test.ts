import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from 'vitest'
import { formatRestoreEvidence } from '../support/restore-evidence.ts'
import { restoreSuite } from '../support/restore-suite.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/restore.md')
const [shape, kubernetes] = ['3+1', '1.37.1'] as const

describe('hyperkube etcd snapshot restore, 100,000 keys', () => {
  restoreSuite(setUpCluster('restore', shape, kubernetes), {
    keys: 100_000,
    interrupt: true,
    onFigures: async (figures) => writeFile(evidence, formatRestoreEvidence(figures, shape, kubernetes)),
  })
})
