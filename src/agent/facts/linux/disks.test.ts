import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readDisks } from './disks.ts'

test('what is not there yet is on the disk that it will come onto', async () => {
  const root = { totalBytes: 100, availableBytes: 50 }
  const data = { totalBytes: 7, availableBytes: 6 }
  expect(
    await readDisks(createFakeFactSource({ spaces: { '/': root, '/var': root, '/var/lib/etcd': data } })),
  ).toEqual([
    { path: '/', ...root },
    { path: '/var/lib/etcd', ...data },
    { path: '/var/lib/containerd', ...root },
    { path: '/var/lib/kubelet', ...root },
  ])
})
