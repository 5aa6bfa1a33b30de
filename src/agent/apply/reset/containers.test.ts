import { expect, test } from 'vitest'
import { containersOf } from './containers.ts'

const ours = '/run/containerd/containerd.sock'
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

test('shims of our runtime with all below them, and nobody else', () => {
  const all = [
    { pid: 1, parent: 0, argv: ['/sbin/init'] },
    shim(10, ours),
    { pid: 11, parent: 10, argv: ['/pause'] },
    { pid: 12, parent: 11, argv: ['sh'] },
    shim(20, '/run/docker/containerd/containerd.sock'),
    { pid: 21, parent: 20, argv: ['nginx'] },
    { pid: 30, parent: 1, argv: ['grep', 'containerd-shim', '-address', ours] },
  ]
  expect(containersOf(all, [ours]).map(({ pid }) => pid)).toEqual([10, 11, 12])
  expect(containersOf(all, [])).toEqual([])
})
