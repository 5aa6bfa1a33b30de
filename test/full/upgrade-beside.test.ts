import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { freshLab } from '../support/lab.ts'
import { upgradeEvidence } from '../support/upgrade-evidence.ts'
import {
  hyperkubeTrial,
  kubeadmTrial,
  type UpgradeTrial,
  type UpgradeWish,
} from '../support/upgrade-comparison.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const [from, to] = ['v1.36.4', 'v1.37.1'] as const
const evidence = join(import.meta.dirname, `../../docs/evidence/upgrade-beside-${shape}.md`)
const patience = { timeout: 3_600_000 }
const upgraded = ['etcd v3.7.3', `kube-apiserver ${to}`, `kubelet ${to}`]

describe(`from ${from} to ${to} under load, ${shape}`, () => {
  const trials = new Map<string, UpgradeTrial>()
  afterAll(async () => {
    const [hyperkube, kubeadm] = [trials.get('hyperkube'), trials.get('kubeadm')]
    if (hyperkube === undefined || kubeadm === undefined) return
    await writeFile(evidence, upgradeEvidence({ shape, from, to, hyperkube, kubeadm }))
  })

  async function tried(
    name: string,
    way: (wish: UpgradeWish) => Promise<UpgradeTrial>,
    signal: AbortSignal,
  ): Promise<UpgradeTrial> {
    const lab = await freshLab(`upgrade-${name}`)
    try {
      const trial = await way({ lab, shape, from, to, signal })
      trials.set(name, trial)
      return trial
    } finally {
      await lab.down()
    }
  }

  test('by hyperkube: nobody notices', patience, async ({ signal }) => {
    const { figures, versions } = await tried('hyperkube', hyperkubeTrial, signal)
    expect(versions).toEqual(upgraded)
    expect(figures.api.failed).toEqual([])
    expect(figures.service.failed).toEqual([])
    expect(figures.writes.refused).toBe(0)
    expect(figures.lost).toEqual([])
  })

  test('by kubeadm: it gets there, and what was noticed is written down', patience, async ({ signal }) => {
    const { versions } = await tried('kubeadm', kubeadmTrial, signal)
    expect(versions).toEqual(upgraded)
  })
})
