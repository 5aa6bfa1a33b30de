import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from '../support/lab.ts'

let lab: Lab
let host: Host

beforeAll(async () => {
  lab = await freshLab('disk')
  await lab.up(['h1'], { disk: 'loop', diskGigabytes: 2 })
  host = await lab.host('h1')
})
afterAll(async () => lab.down())

test('a power cut loses what was not synced, and only that', async () => {
  await host.script('echo safe > /root/synced; sync; echo gone > /root/unsynced')
  await host.powerCut()
  await lab.start('h1')
  const { stdout } = await host.script(
    'cat /root/synced; test -s /root/unsynced && echo survived || echo lost',
  )
  expect(stdout).toBe('safe\nlost\n')
})

test('a crash loses nothing that the kernel had taken in', async () => {
  await host.script('echo taken > /root/unsynced')
  await host.crash()
  await lab.start('h1')
  expect((await host.script('cat /root/unsynced')).stdout).toBe('taken\n')
})

test('a full disk refuses writes until it is emptied', async () => {
  await host.fillDisk()
  const full = await host.script('head -c 10M /dev/zero > /var/lib/etcd/more', { allowFailure: true })
  expect(full.stderr).toContain('No space left on device')
  await host.emptyDisk()
  await host.script('head -c 10M /dev/zero > /var/lib/etcd/more; rm /var/lib/etcd/more')
})

test('a slow disk makes synced writes many times slower, and lets go again', async () => {
  const synced = async (): Promise<number> => {
    const started = performance.now()
    await host.exec(['dd', 'if=/dev/zero', 'of=/var/lib/etcd/probe', 'bs=4k', 'count=20', 'oflag=dsync'])
    return performance.now() - started
  }
  const fast = await synced()
  await host.slowDisk(10)
  const slow = await synced()
  await host.slowDisk(0)
  const again = await synced()
  expect(slow / fast).toBeGreaterThan(5)
  expect(again).toBeLessThan(slow / 3)
})
