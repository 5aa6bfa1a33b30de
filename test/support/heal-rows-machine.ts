import { areAllWorking } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'

const common = {
  expects: 'waits-for-recovery',
  runs: 1,
  timeoutMs: 240_000,
  runWithoutAgents: false,
} as const

/** Faults of the power and the disks of hosts. */
export const machineRows: readonly HealRow[] = [
  buildPowerCutRow('cp3', 'control plane'),
  buildPowerCutRow('w2', 'worker'),
  {
    ...{ ...common, id: 'disk-slow-etcd', what: 'slow disk under etcd', hosts: ['cp3'], clients: 'there' },
    ...{ codes: ['DISK_SLOW'], minDurationMs: 30_000, seconds: 90 },
    async inject(_cluster, host) {
      await host.slowDisk(10)
      const began = performance.now()
      await host.exec(['dd', 'if=/dev/zero', 'of=/var/lib/etcd/probe', 'bs=4k', 'count=20', 'oflag=dsync'])
      if (performance.now() - began < 1500) throw new Error('the disk is as fast as ever')
    },
    async undo(_cluster, host) {
      await host.slowDisk(0)
      await host.exec(['rm', '-f', '/var/lib/etcd/probe'])
    },
    isHealed: areAllWorking,
  },
  buildDiskFullRow('cp2', 'etcd'),
  // This fault is the last one, because a kubelet with a full disk rejects new pods for minutes.
  buildDiskFullRow('w1', 'kubelet'),
]

function buildPowerCutRow(name: string, role: string): HealRow {
  return {
    ...{ ...common, id: `power-cut-${name.startsWith('cp') ? 'control-plane' : 'worker'}` },
    ...{ what: `power cut of a ${role}`, hosts: [name], clients: 'elsewhere' },
    ...{ codes: ['HOST_UNREACHABLE'], minDurationMs: 20_000, seconds: 100 },
    async inject(_cluster, host) {
      await host.powerCut()
      if (await host.isRunning()) throw new Error(`${host.name} still runs`)
    },
    async undo({ lab }, host) {
      if (!(await host.isRunning())) await lab.start(host.name)
    },
    isHealed: areAllWorking,
  }
}

function buildDiskFullRow(name: string, component: 'etcd' | 'kubelet'): HealRow {
  return {
    ...{ ...common, id: `disk-full-${component}`, what: `full disk under ${component}`, hosts: [name] },
    ...{ codes: ['DISK_FULL'], minDurationMs: 30_000, seconds: 90, clients: 'elsewhere' },
    async inject(_cluster, host) {
      await host.fillDisk()
      const probeFile = `/var/lib/${component}/more`
      const { stderr } = await host.script(`head -c 10M /dev/zero > ${probeFile}`, { allowFailure: true })
      if (!stderr.includes('No space left')) throw new Error(`there is room on ${host.name}`)
    },
    async undo(_cluster, host) {
      await host.emptyDisk()
      await host.exec(['rm', '-f', `/var/lib/${component}/more`])
    },
    isHealed: areAllWorking,
  }
}
