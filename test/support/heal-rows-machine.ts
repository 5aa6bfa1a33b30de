import { allWorks } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'

const common = { expects: 'waits-for-world', runs: 1, within: 240_000, alone: false } as const

/** What happens to machines: their power and their disks. */
export const machineRows: readonly HealRow[] = [
  powerCut('cp3', 'control plane'),
  powerCut('w2', 'worker'),
  {
    ...{ ...common, id: 'disk-slow-etcd', what: 'slow disk under etcd', hosts: ['cp3'], clients: 'there' },
    ...{ codes: ['DISK_SLOW'], lasts: 30_000, seconds: 90 },
    async inject(_scene, host) {
      await host.slowDisk(10)
      const began = performance.now()
      await host.exec(['dd', 'if=/dev/zero', 'of=/var/lib/etcd/probe', 'bs=4k', 'count=20', 'oflag=dsync'])
      if (performance.now() - began < 1500) throw new Error('the disk is as fast as ever')
    },
    async undo(_scene, host) {
      await host.slowDisk(0)
      await host.exec(['rm', '-f', '/var/lib/etcd/probe'])
    },
    healed: allWorks,
  },
  diskFull('cp2', 'etcd'),
  // The last one: a kubelet that had no room takes no new pods for minutes.
  diskFull('w1', 'kubelet'),
]

function powerCut(name: string, role: string): HealRow {
  return {
    ...{ ...common, id: `power-cut-${name.startsWith('cp') ? 'control-plane' : 'worker'}` },
    ...{ what: `power cut of a ${role}`, hosts: [name], clients: 'elsewhere' },
    ...{ codes: ['HOST_AWAY'], lasts: 20_000, seconds: 100 },
    async inject(_scene, host) {
      await host.powerCut()
      if (await host.isRunning()) throw new Error(`${host.name} still runs`)
    },
    async undo({ lab }, host) {
      if (!(await host.isRunning())) await lab.start(host.name)
    },
    healed: allWorks,
  }
}

function diskFull(name: string, component: 'etcd' | 'kubelet'): HealRow {
  return {
    ...{ ...common, id: `disk-full-${component}`, what: `full disk under ${component}`, hosts: [name] },
    ...{ codes: ['DISK_FULL'], lasts: 30_000, seconds: 90, clients: 'elsewhere' },
    async inject(_scene, host) {
      await host.fillDisk()
      const more = `/var/lib/${component}/more`
      const { stderr } = await host.script(`head -c 10M /dev/zero > ${more}`, { allowFailure: true })
      if (!stderr.includes('No space left')) throw new Error(`there is room on ${host.name}`)
    },
    async undo(_scene, host) {
      await host.emptyDisk()
      await host.exec(['rm', '-f', `/var/lib/${component}/more`])
    },
    healed: allWorks,
  }
}
