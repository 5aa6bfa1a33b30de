import { writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatScaleEvidence, type ScaleEvidence } from '../support/manager-scale-evidence.ts'
import { computeGrowth, isLinear, type ScaleStep } from '../support/manager-scale-figures.ts'
import { ManagerScale } from '../support/manager-scale-run.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/manager-scale.md')
const kubernetes = '1.37.1'
/** Node counts to measure, ascending. */
const requestedSizes = (process.env['MANAGER_SCALE'] ?? '500,1000,2000,5000').split(',').map(Number)
const minutes = 55
const [changes, restMs] = [200, 60_000]

describe('the controller manager with many nodes', () => {
  const clusterNow = setUpCluster('manager-scale', '1+0', kubernetes, {
    // This pod network has room for 8192 nodes.
    prepare: async ({ edit }) =>
      edit((document) => document.setIn(['spec', 'network', 'pods'], '10.32.0.0/11')),
  })

  test('has costs that grow no faster than the cluster', { timeout: (minutes + 5) * 60_000 }, async () => {
    const cluster = clusterNow()
    const signal = AbortSignal.timeout(minutes * 60_000)
    await using scale = await ManagerScale.open(cluster, `v${kubernetes}`, { changes, restMs })
    const [hyperkube = ''] = (await cluster.hyperkube('version')).stdout.split('\n')
    const metadata: Omit<ScaleEvidence, 'steps'> = {
      date: new Date(),
      hyperkube,
      kubernetes,
      kwok: scale.kwok,
      requestedSizes,
      minutes,
      changes,
      restMs,
      machine: `${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GiB`,
    }
    const steps: ScaleStep[] = []
    for (const nodes of requestedSizes) {
      const step = await scale.step(nodes, signal).catch((error: unknown) => {
        // A step that the time limit interrupted is left out of the evidence. Other errors fail the test, and
        // so does a time limit before the first step is complete.
        if (!signal.aborted || steps.length === 0) throw error
        return undefined
      })
      if (step === undefined) break
      steps.push(step)
      await writeFile(evidence, formatScaleEvidence({ ...metadata, steps }))
    }
    const [first, last] = [steps[0], steps.at(-1)]
    if (first === undefined || last === undefined) throw new Error('there was no step')
    const sizes = last.nodes / first.nodes
    expect(computeGrowth(first, last).filter(({ own }) => !isLinear(own, sizes))).toEqual([])
  })
})
