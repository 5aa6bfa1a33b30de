import { expect, test } from 'vitest'
import { findContainerProcesses } from './containers.ts'

const expected = '/run/containerd/containerd.sock'
const shim = (pid: number, address: string) => ({
  pid,
  parent: 1,
  argv: [
    '/opt/hyperkube/containerd-2.3.7/containerd-shim-runc-v2',
    '-namespace',
    'k8s.io',
    '-address',
    address,
  ],
})

test('container processes are the shims and CNI plugins of hyperkube with all descendants', () => {
  const all = [
    { pid: 1, parent: 0, argv: ['/sbin/init'] },
    shim(10, expected),
    { pid: 11, parent: 10, argv: ['/pause'] },
    { pid: 12, parent: 11, argv: ['sh'] },
    shim(20, '/run/docker/containerd/containerd.sock'),
    { pid: 21, parent: 20, argv: ['nginx'] },
    { pid: 30, parent: 1, argv: ['grep', 'containerd-shim', '-address', expected] },
    { pid: 40, parent: 1, argv: ['/opt/hyperkube/cni-plugins-1.9.1/host-local'] },
    { pid: 41, parent: 1, argv: ['/opt/cni/bin/host-local'] },
  ]
  const ours = { runtimes: [expected], plugins: ['/opt/hyperkube/cni-plugins-'] }
  expect(findContainerProcesses(all, ours).map(({ pid }) => pid)).toEqual([10, 11, 12, 40])
  expect(findContainerProcesses(all, { runtimes: [], plugins: [] })).toEqual([])
})
