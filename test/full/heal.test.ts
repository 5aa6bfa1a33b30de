import { describe } from 'vitest'
import { withoutAgentsSuite, faultsSuite } from '../support/heal-suite.ts'
import { healRows } from '../support/heal-rows.ts'
import { selectRows } from '../support/heal-row.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const [shape, kubernetes] = ['3+2', '1.37.1'] as const
const { HEAL_ROWS: rowNames, HEAL_RUNS: runs, HEAL_ALONE: alone, HEAL_RESULTS: results } = process.env

/**
 * HEAL_ROWS=stop-etcd,nft-flushed selects faults, HEAL_RUNS=1 sets how often each one runs, HEAL_ALONE=1 runs
 * all of them without agents. HEAL_RESULTS names a file that collects parts of the table; the evidence is
 * written once the table is complete.
 */
describe('faults of a cluster in use', () => {
  const clusterNow = setUpCluster('heal', shape, kubernetes, { survivesPowerCut: true })
  const suite = {
    table: healRows,
    rows: selectRows(healRows, { rows: rowNames, runs }),
    environment: { kubernetes, shape },
    results,
    evidence: 'healing.md',
  }
  if (alone === undefined) faultsSuite(clusterNow, suite)
  else withoutAgentsSuite(clusterNow, suite)
})
