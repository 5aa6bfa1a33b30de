import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { countCpus, hasSwap, parseMemory, readDisks } from './hardware.ts'

test.each([
  ['0\n', 1],
  ['0-1\n', 2],
  ['0-3,8-11,13\n', 9],
])('the CPU list %j has %i CPUs', (text, count) => {
  expect(countCpus(text)).toBe(count)
})

test('the memory of a host is MemTotal in bytes', () => {
  expect(parseMemory('MemTotal:       24682416 kB\nMemFree:        17089540 kB\n')).toBe(25_274_793_984)
})

test('a missing directory is on the disk of its nearest existing parent', async () => {
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
  ['an empty list means no swap', heading, false],
  ['a kernel without swap support means no swap', '', false],
  [
    'a swap file means swap, as on Ubuntu',
    `${heading}/swap.img                               file\t\t4194300\t\t0\t\t-2\n`,
    true,
  ],
  [
    'swap in memory means swap, as on Fedora',
    `${heading}/dev/zram0                              partition\t8388604\t\t0\t\t100\n`,
    true,
  ],
])('%s', (_, text, expected) => {
  expect(hasSwap(text)).toBe(expected)
})
