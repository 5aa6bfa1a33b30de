import { writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import type { MeteredRun } from '../support/operator-scale/metered-process.ts'
import { createScaleCluster } from '../support/operator-scale/scale-cluster.ts'
import {
  computeScaleGrowth,
  formatOperatorScale,
  isLinearGrowth,
  maxPeakBytes,
  type OperatorScaleStep,
  type ScaleCommand,
  scaleCommands,
} from '../support/operator-scale/scale-evidence.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/operator-scale.md')
/** Numbers of workers, ascending. The evidence is written only for the default numbers. */
const requestedSizes = process.env['OPERATOR_SCALE']
const sizes = (requestedSizes ?? '500,2000,5000').split(',').map(Number)

test('the costs of up grow no faster than the number of hosts', { timeout: 7_200_000 }, async () => {
  const program = inject('executable')
  const steps: OperatorScaleStep[] = []
  let hyperkube = ''
  for (const workers of sizes) {
    await using cluster = await createScaleCluster([program], workers)
    ;[hyperkube = ''] = (await cluster.hyperkube('version')).stdout.split('\n')
    const figures = new Map<ScaleCommand, MeteredRun>()
    const measure = async (command: ScaleCommand, ...args: readonly string[]): Promise<MeteredRun> => {
      const run = await cluster.hyperkube(...args)
      const megabytes = (run.peakBytes / 1e6).toFixed(0)
      process.stderr.write(`${workers} ${command}: ${run.cpuSeconds} s of CPU, ${megabytes} MB\n`)
      if (run.code !== 0) throw new Error(`${command} ended with ${run.code}: ${run.stderr.slice(-5000)}`)
      figures.set(command, run)
      return run
    }
    await measure('first up', 'up', '--yes')
    const unchanged = await measure('up without changes', 'up', '--yes')
    expect(unchanged.stderr).toContain('nothing to do')
    await cluster.edit((document) =>
      document.setIn(['spec', 'components', 'kubelet', 'config', 'maxPods'], 200),
    )
    await measure('up with a changed kubelet', 'up', '--yes')
    expect((await measure('plan', 'plan')).stdout).toContain('nothing to do')
    steps.push({ hosts: workers + 3, figures })
  }
  const text = formatOperatorScale({
    ...{ date: new Date(), hyperkube, node: process.version, steps },
    machine: `${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GiB`,
  })
  process.stderr.write(text)
  if (requestedSizes === undefined) await writeFile(evidence, text)
  const growth = (steps.at(-1)?.hosts ?? 0) / (steps[0]?.hosts ?? 1)
  for (const command of scaleCommands) {
    const cpu = computeScaleGrowth({ steps }, command, ({ cpuSeconds }) => cpuSeconds)
    expect({ command, cpu, isLinear: isLinearGrowth(cpu, growth) }).toMatchObject({ isLinear: true })
    for (const { figures } of steps)
      expect(figures.get(command)?.peakBytes, command).toBeLessThan(maxPeakBytes)
  }
})
