import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { countCpus, hasSwap, parseMemory, readDisks } from './hardware.ts'

test.each([
  ['0\n', 1],
  ['0-1\n', 2],
  ['0-3,8-11,13\n', 9],
])('%j are %i processors', (text, count) => {
  expect(countCpus(text)).toBe(count)
})

test('memory is all that the kernel has', () => {
  expect(parseMemory('MemTotal:       24682416 kB\nMemFree:        17089540 kB\n')).toBe(25_274_793_984)
})

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

const heading = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n'

test.each([
  ['none', heading, false],
  ['a kernel that cannot', '', false],
  [
    'a file, as on Ubuntu',
    `${heading}/swap.img                               file\t\t4194300\t\t0\t\t-2\n`,
    true,
  ],
  [
    'in memory, as on Fedora',
    `${heading}/dev/zram0                              partition\t8388604\t\t0\t\t100\n`,
    true,
  ],
])('%s', (_, text, expected) => {
  expect(hasSwap(text)).toBe(expected)
})
