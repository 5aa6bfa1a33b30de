import { expect, test } from 'vitest'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { listLinuxLeftoverSteps } from './linux-leftover-steps.ts'

test('links to pods are removed once, before their bridge, and other links stay', async () => {
  await using host = await createTemporaryHost()
  const removed: string[] = []
  const packets = {
    ...host.packets,
    links: async () => [
      { name: 'eth0', bridge: undefined },
      { name: 'cni0', bridge: undefined },
      { name: 'veth5f57a2b8', bridge: 'cni0' },
      { name: 'docker0', bridge: undefined },
      { name: 'veth1a2b3c4', bridge: 'docker0' },
      { name: 'enp1s0f1', bridge: 'cni0' },
      { name: 'flannel.1', bridge: 'cni0' },
    ],
    removeLink: async (name: string) => void removed.push(name),
  }
  const services = ['containerd.service', 'flanneld.service']
  const resources = services.map((name) => ({ target: 'service', name }) as const)
  const steps = listLinuxLeftoverSteps({ ...host, packets }, { resources, retainedDirectories: [] })
  const step = steps.find(([name]) => name === 'links')?.[1]
  expect(await step?.(new AbortController().signal)).toEqual(removed)
  expect(removed).toEqual(['veth5f57a2b8', 'cni0', 'flannel.1'])
})
