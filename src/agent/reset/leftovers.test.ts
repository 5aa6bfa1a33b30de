import { describe, expect, test } from 'vitest'
import { listLeftovers } from './leftovers.ts'

const service = (name: string) => ({ target: 'service', name }) as const
const directory = (name: string, before?: object) =>
  ({ target: 'directory', name, ...(before === undefined ? {} : { before }) }) as const

describe('a network plugin that runs as pods', () => {
  const resources = [
    service('containerd.service'),
    service('kubelet.service'),
    directory('/etc/cni/net.d', { uid: 0, gid: 0, mode: '0755' }),
    directory('/opt/cni/bin'),
  ]
  const leftovers = listLeftovers({ resources, retainedDirectories: [] })

  test('leaves links, rules and data that are removed', () => {
    const isLink = (name: string): boolean => leftovers.links.some((pattern) => pattern.test(name))
    expect(['flannel.1', 'cali0a1b2c3d4e5', 'vxlan.calico', 'vxlan-v6.calico'].filter(isLink)).toHaveLength(4)
    expect(['eth0', 'vxlan0', 'calibration', 'caliph'].filter(isLink)).toEqual([])
    expect(leftovers.tables).toEqual(expect.arrayContaining(['flannel-ipv4', 'calico', 'kube-proxy']))
    expect(leftovers.directories).toContain('/var/lib/calico')
    expect(leftovers.routeProtocols).toEqual([80])
  })

  test('loses its files only in directories that hyperkube created', () => {
    expect(leftovers.directories).toContain('/opt/cni/bin')
    expect(leftovers.directories).not.toContain('/etc/cni/net.d')
    expect(leftovers.onlyEmptied).toContain('/opt/cni/bin')
  })
})

test('with flannel of hyperkube, other plugins and their directories stay', () => {
  const resources = [
    ...['containerd.service', 'flanneld.service', 'kube-proxy.service'].map(service),
    directory('/opt/cni/bin'),
  ]
  const { directories, tables, sets } = listLeftovers({ resources, retainedDirectories: [] })
  expect(directories).not.toContain('/opt/cni/bin')
  expect(directories).not.toContain('/var/lib/calico')
  expect([...tables, ...sets]).not.toContain('calico')
})

test('a dedicated etcd host has no network plugin', () => {
  const { directories, links } = listLeftovers({
    resources: [service('etcd.service')],
    retainedDirectories: [],
  })
  expect(directories).toEqual(['/var/lib/etcd'])
  expect(links).toEqual([])
})
