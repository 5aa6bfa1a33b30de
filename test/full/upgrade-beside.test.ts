import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openFreshLab } from '../support/lab.ts'
import { formatUpgradeEvidence } from '../support/upgrade-evidence.ts'
import {
  runHyperkubeUpgrade,
  runKubeadmUpgrade,
  type UpgradeResult,
  type UpgradeOptions,
} from '../support/upgrade-comparison.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const [from, to] = ['v1.36.4', 'v1.37.1'] as const
const evidence = join(import.meta.dirname, `../../docs/evidence/upgrade-beside-${shape}.md`)
const testOptions = { timeout: 3_600_000 }
const upgraded = ['etcd v3.7.3', `kube-apiserver ${to}`, `kubelet ${to}`]

describe(`from ${from} to ${to} under load, ${shape}`, () => {
  const results = new Map<string, UpgradeResult>()
  afterAll(async () => {
    const [hyperkube, kubeadm] = [results.get('hyperkube'), results.get('kubeadm')]
    if (hyperkube === undefined || kubeadm === undefined) return
    await writeFile(evidence, formatUpgradeEvidence({ shape, from, to, hyperkube, kubeadm }))
  })

  async function runUpgrade(
    name: string,
    upgrade: (options: UpgradeOptions) => Promise<UpgradeResult>,
    signal: AbortSignal,
  ): Promise<UpgradeResult> {
    const lab = await openFreshLab(`upgrade-${name}`)
    try {
      const result = await upgrade({ lab, shape, from, to, signal })
      results.set(name, result)
      return result
    } finally {
      await lab.down()
    }
  }

  test('by hyperkube: no request fails', testOptions, async ({ signal }) => {
    const { figures, versions } = await runUpgrade('hyperkube', runHyperkubeUpgrade, signal)
    expect(versions).toEqual(upgraded)
    expect(figures.api.failed).toEqual([])
    expect(figures.service.failed).toEqual([])
    expect(figures.writes.refused).toBe(0)
    expect(figures.lost).toEqual([])
  })

  test('by kubeadm: it succeeds, and failed requests are recorded', testOptions, async ({ signal }) => {
    const { versions } = await runUpgrade('kubeadm', runKubeadmUpgrade, signal)
    expect(versions).toEqual(upgraded)
  })
})
