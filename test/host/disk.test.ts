import { afterAll, beforeAll, expect, test } from 'vitest'
import { cutPower, listWriteLimits } from '../../lab/hosts/disk.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { openFreshLab } from '../support/lab.ts'

let lab: Lab
let host: Host

beforeAll(async () => {
  lab = await openFreshLab('disk')
  await lab.up(['h1'], { disk: 'loop', diskGigabytes: 2 })
  host = await lab.host('h1')
})
afterAll(async () => lab.down())

test('a power cut loses only data that was not synced', async () => {
  await host.script('echo safe > /root/synced; sync; echo lost > /root/unsynced')
  await host.powerCut()
  await lab.start('h1')
  const { stdout } = await host.script(
    'cat /root/synced; test -s /root/unsynced && echo survived || echo lost',
  )
  expect(stdout).toBe('safe\nlost\n')
})

test('a disk fault on a stopped host is refused', async () => {
  await host.crash()
  try {
    await expect(host.powerCut()).rejects.toMatchObject({ code: 'HOST_IS_OFF' })
    await expect(host.fillDisk()).rejects.toMatchObject({ code: 'HOST_IS_OFF' })
    await expect(host.slowDisk(10)).rejects.toMatchObject({ code: 'HOST_IS_OFF' })
    await expect(cutPower(host.disk)).rejects.toMatchObject({ code: 'DISK_NOT_ATTACHED' })
  } finally {
    await lab.start('h1')
  }
})

test('a crash loses no data that the kernel has accepted', async () => {
  await host.script('echo taken > /root/unsynced')
  await host.crash()
  await lab.start('h1')
  expect((await host.script('cat /root/unsynced')).stdout).toBe('taken\n')
})

test('a full disk refuses writes until space is freed', async () => {
  await host.fillDisk()
  const full = await host.script('head -c 10M /dev/zero > /var/lib/etcd/more', { allowFailure: true })
  expect(full.stderr).toContain('No space left on device')
  await host.emptyDisk()
  await host.script('head -c 10M /dev/zero > /var/lib/etcd/more; rm /var/lib/etcd/more')
})

test('a slow disk limits writes per second until the limit is removed', async () => {
  const synced = async (): Promise<number> => {
    const started = performance.now()
    await host.exec(['dd', 'if=/dev/zero', 'of=/var/lib/etcd/probe', 'bs=4k', 'count=20', 'oflag=dsync'])
    return performance.now() - started
  }
  await host.slowDisk(10)
  try {
    // 20 synced writes take about 2 s at 10 per second. The first few may not be delayed, so the limit is
    // lower.
    expect(await synced()).toBeGreaterThan(1500)
  } finally {
    await host.slowDisk(0)
  }
  expect(await listWriteLimits()).toEqual([])
})

test('a crash of the host removes the write limit of its disk', async () => {
  await host.slowDisk(10)
  expect(await listWriteLimits()).toHaveLength(1)
  await host.crash()
  expect(await listWriteLimits()).toEqual([])
  await lab.start('h1')
})
