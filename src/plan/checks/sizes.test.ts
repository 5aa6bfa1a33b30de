import { expect, test } from 'vitest'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

const mebibyte = 2 ** 20
const gibibyte = 2 ** 30

/**
 * Memory that a worker needs: agent, containerd, apiserver-proxy, kubelet, kube-proxy, flanneld and operating
 * system.
 */
const needed = (128 + 128 + 96 + 192 + 96 + 64 + 512) * mebibyte

test.each([
  [needed - 1, ['w1 error HOST_MEMORY_SMALL']],
  [needed, ['w1 warning HOST_MEMORY_SMALL']],
  [2 * needed - 1, ['w1 warning HOST_MEMORY_SMALL']],
  [2 * needed, []],
])('a worker with %i bytes of memory gives %j', (memoryBytes, expected) => {
  expect(checkCaseBriefly({ facts: { w1: { linux: { memoryBytes } } } })).toEqual(expected)
})

test('a Windows host needs 2 GiB of memory for the system instead of 512 MiB', () => {
  const enough = needed + (2048 - 512) * mebibyte
  const found = (memoryBytes: number) => checkCaseBriefly({ facts: { win1: { windows: { memoryBytes } } } })
  expect(found(enough - 1)).toEqual(['win1 error HOST_MEMORY_SMALL'])
  expect(found(2 * enough)).toEqual([])
})

test('the required memory depends on the roles of the host', () => {
  const linux = { memoryBytes: 1024 * mebibyte }
  const found = checkCase({ facts: { cp1: { linux }, etcd1: { linux } } })
  expect(found).toMatchObject([
    {
      host: 'cp1',
      severity: 'error',
      message: 'the host has only 1.0 GiB of memory; the system and the components need 2.1 GiB',
    },
    { host: 'etcd1', severity: 'warning' },
  ])
})

test('a control plane with one CPU gets a warning', () => {
  const linux = { cpus: 1 }
  expect(checkCaseBriefly({ facts: { cp1: { linux }, w1: { linux }, etcd1: { linux } } })).toEqual([
    'cp1 warning HOST_CPU_SMALL',
  ])
})

const root = { path: '/', totalBytes: 200 * gibibyte, availableBytes: 150 * gibibyte }

test.each([
  ['etcd1', { path: '/var/lib/etcd', totalBytes: 10 * gibibyte, availableBytes: 7 * gibibyte }, 'etcd'],
  ['w1', { path: '/var', totalBytes: 20 * gibibyte, availableBytes: 9 * gibibyte }, 'kubelet'],
  ['w1', { path: '/var/lib/kubelet', totalBytes: 100 * gibibyte, availableBytes: 14 * gibibyte }, 'kubelet'],
])('on %s the disk with the longest matching path is checked: %j', (host, disk, component) => {
  const found = checkCase({ facts: { [host]: { linux: { disks: [disk, root] } } } })
  expect(found).toMatchObject([{ code: 'HOST_DISK_SMALL', severity: 'warning', host, component }])
  expect(found[0]?.message).toContain(disk.path)
})

test('a disk that hyperkube does not use may be full', () => {
  const full = (path: string) => ({ path, totalBytes: gibibyte, availableBytes: 0 })
  const disks = [root, full('/var/lib/kube'), full('/boot'), full('/var/lib/etcd')]
  expect(checkCase({ facts: { w1: { linux: { disks } } } })).toEqual([])
})

test('on Windows the free space of the drive is checked', () => {
  const other = { path: 'c:\\hyper', totalBytes: 40 * gibibyte, availableBytes: 0 }
  const disks = [other, { path: 'c:\\', totalBytes: 40 * gibibyte, availableBytes: 5 * gibibyte }]
  expect(checkCase({ facts: { win1: { windows: { disks } } } })).toMatchObject([
    { code: 'HOST_DISK_SMALL', hint: 'Get-Volume', host: 'win1' },
  ])
})
