import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setUpCluster } from '../support/suite-cluster.ts'

const [older, newer] = ['1.36.4', '1.37.1'] as const
const clusterNow = setUpCluster('workers-version', '1+1', older)

async function readKubelets(): Promise<Record<string, string>> {
  const { items } = await clusterNow().api.get<{
    items: { metadata: { name: string }; status: { nodeInfo: { kubeletVersion: string } } }[]
  }>('/api/v1/nodes')
  return Object.fromEntries(
    items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]),
  )
}

test(
  'workers keep the version that cluster.yml gives them, and up leaves nothing to do',
  { timeout: 600_000 },
  async () => {
    const { operator } = clusterNow()
    await operator.edit((document) => {
      document.setIn(['spec', 'kubernetes'], newer)
      document.setIn(['spec', 'workers'], { kubernetes: older })
    })
    await operator.must(0, 'lock')
    await operator.must(0, 'up', '--yes')
    expect(await readKubelets()).toEqual({ cp1: `v${newer}`, w1: `v${older}` })
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  },
)

test(
  'an upgrade to the version of the control planes brings the workers to it',
  { timeout: 600_000 },
  async () => {
    const { operator } = clusterNow()
    const { stderr } = await operator.must(0, 'upgrade', '--to', newer, '--yes')
    expect(stderr).toContain('drains of each worker (w1): 1')
    // The upgrade changes no control plane, so it takes no snapshot.
    expect(stderr).toContain('snapshots, each verified by a restore: 0')
    expect(await readKubelets()).toEqual({ cp1: `v${newer}`, w1: `v${newer}` })
    const lock = await readFile(join(operator.directory, 'cluster.lock'), 'utf8')
    expect(lock).not.toContain('workers:')
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  },
)
