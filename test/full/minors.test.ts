import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBareCluster } from '../../lab/bench/bare-cluster.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { type KubernetesVersion, kubernetesVersions } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { openFreshLab } from '../support/lab.ts'

const labs = new Map<KubernetesVersion, Lab>()

beforeAll(async () => {
  for (const version of kubernetesVersions) {
    labs.set(version, await openFreshLab(version.replaceAll('.', '-')))
  }
})
afterAll(async () => settleAll([...labs.values()].map(async (lab) => lab.down())))

test('every Kubernetes version of the lab runs, side by side on one machine', async () => {
  const options = { shape: '1+0', cache: cacheDirectory(), report: silentReport }
  const versions = await settleAll(
    [...labs].map(async ([kubernetes, lab]) => {
      const { api } = await startBareCluster(lab, { ...options, kubernetes })
      const { gitVersion } = await api.get<{ gitVersion: string }>('/version')
      const { items } = await api.get<{ items: { status: { nodeInfo: { kubeletVersion: string } } }[] }>(
        '/api/v1/nodes',
      )
      api.close()
      return [gitVersion, ...items.map(({ status }) => status.nodeInfo.kubeletVersion)]
    }),
  )
  expect(versions).toEqual(kubernetesVersions.map((version) => [version, version]))
})
