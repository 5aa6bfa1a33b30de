import type { Finding } from '../../contract/finding.ts'
import { memoryFloors } from '../memory-floors.ts'
import { flooredComponents } from '../reserved-resources.ts'
import { isControlPlane, isEtcdMember, isNode } from '../context.ts'
import { error, type SystemCheck, type SystemSubject, warning } from './check.ts'

const mebibyte = 2 ** 20
const gibibyte = 2 ** 30

/** For the system itself, in MiB. */
const systems = { linux: 512, windows: 2048 } as const

export const memory: SystemCheck = (subject) => {
  const { memoryBytes, os } = subject.system
  const sum = flooredComponents(subject).reduce<number>(
    (total, name) => total + memoryFloors[name],
    systems[os],
  )
  const needed = sum * mebibyte
  if (memoryBytes >= 2 * needed) return []
  const figures = `${amount(memoryBytes)} of memory; the system and our services need ${amount(needed)}`
  const details = { hint: `give it ${amount(2 * needed)}, or fewer roles` }
  return memoryBytes < needed
    ? [error(subject, 'HOST_MEMORY_SMALL', `the host has only ${figures}`, details)]
    : [warning(subject, 'HOST_MEMORY_SMALL', `the host has little to spare: ${figures}`, details)]
}

export const processors: SystemCheck = (subject) => {
  if (!isControlPlane(subject) || subject.system.cpus > 1) return []
  const message = 'one CPU is little for a control plane: etcd waits whenever something else has work'
  return [warning(subject, 'HOST_CPU_SMALL', message, { hint: 'give it 2 CPUs' })]
}

export const disks: SystemCheck = (subject) => [
  ...(isEtcdMember(subject) ? etcdDisk(subject) : []),
  ...(isNode(subject) ? podDisks(subject) : []),
]

function etcdDisk(subject: SystemSubject): Finding[] {
  const disk = diskOf(subject, '/var/lib/etcd')
  if (disk === undefined || disk.availableBytes >= 8 * gibibyte) return []
  const message = `${disk.path} has ${amount(disk.availableBytes)} left; etcd may grow to 8 GiB`
  return [warning(subject, 'HOST_DISK_SMALL', message, { hint: 'df -h', component: 'etcd' })]
}

function podDisks(subject: SystemSubject): Finding[] {
  const directories =
    subject.system.os === 'linux'
      ? ['/var/lib/containerd', '/var/lib/kubelet']
      : [subject.cluster.spec.windows.baseDirectory, String.raw`C:\var\lib\kubelet`]
  const found = directories.flatMap((path) => diskOf(subject, path) ?? [])
  return [...new Set(found)].flatMap((disk) => {
    const { path, availableBytes, totalBytes } = disk
    const share = totalBytes === 0 ? 0 : availableBytes / totalBytes
    if (availableBytes >= 10 * gibibyte && share >= 0.15) return []
    const left = `${amount(availableBytes)} left, ${Math.floor(share * 100)} % of it`
    const message = `${path} has ${left}: the kubelet would soon remove images and evict pods`
    const hint = subject.system.os === 'linux' ? 'df -h' : 'Get-Volume'
    return [warning(subject, 'HOST_DISK_SMALL', message, { hint, component: 'kubelet' })]
  })
}

type Disk = SystemSubject['system']['disks'][number]

/** The disk that a directory is on: the one mounted nearest to it. */
function diskOf({ system: { disks: all } }: SystemSubject, directory: string): Disk | undefined {
  return all.reduce<Disk | undefined>((best, disk) => {
    const nearer = best === undefined || disk.path.length > best.path.length
    return nearer && holds(disk.path, directory) ? disk : best
  }, undefined)
}

function holds(mount: string, directory: string): boolean {
  if (mount.startsWith('/')) return `${directory}/`.startsWith(mount === '/' ? '/' : `${mount}/`)
  // Windows takes no notice of case.
  const base = mount.replace(/\\?$/, '\\').toLowerCase()
  return `${directory}\\`.toLowerCase().startsWith(base)
}

function amount(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`
}
