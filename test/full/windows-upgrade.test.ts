import { expect, test } from 'vitest'
import { setUpWindowsCluster } from '../support/windows-cluster.ts'

/** Cluster whose Windows workers are upgraded to the next minor version, each after a drain. */
const cluster = setUpWindowsCluster('windows-minor', ['v1.36.4', 'v1.37.1'])

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: { readonly nodeInfo: { readonly kubeletVersion: string } }
  }[]
}

test('Windows workers are upgraded to the next minor version with the other hosts', async () => {
  const { must, api } = cluster()
  await must(0, 'upgrade', '--to', '1.37.1', '--yes')
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  expect(
    new Map(items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion])),
  ).toEqual(new Map(['cp1', 'w1', 'win1', 'win2'].map((name) => [name, 'v1.37.1'])))
  await must(0, 'plan')
})

test('a reset restores the initial state of every host', async () => {
  const { must, observe, before } = cluster()
  await must(0, 'reset', '--yes')
  expect(await observe()).toEqual(before)
})
