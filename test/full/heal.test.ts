import { describe } from 'vitest'
import { aloneSuite, faultsSuite } from '../support/heal-suite.ts'
import { healRows } from '../support/heal-rows.ts'
import { selectRows } from '../support/heal-row.ts'
import { suiteCluster } from '../support/suite-cluster.ts'

const [shape, kubernetes] = ['3+2', '1.37.1'] as const
const { HEAL_ROWS: wished, HEAL_RUNS: runs, HEAL_ALONE: alone, HEAL_RESULTS: results } = process.env

/**
 * HEAL_ROWS=stop-etcd,nft-flushed takes some faults, HEAL_RUNS=1 each as often, HEAL_ALONE=1 all of them without agents.
 * HEAL_RESULTS names a file in which parts of the table come together; what comes of the whole one is kept.
 */
describe('faults of a cluster in use', () => {
  const clusterNow = suiteCluster('heal', shape, kubernetes, { mortal: true })
  const suite = {
    table: healRows,
    rows: selectRows(healRows, { rows: wished, runs }),
    trial: { kubernetes, shape },
    results,
    evidence: 'healing.md',
  }
  if (alone === undefined) faultsSuite(clusterNow, suite)
  else aloneSuite(clusterNow, suite)
})
