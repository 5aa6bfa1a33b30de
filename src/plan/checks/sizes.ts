import { findDisk } from '../../contract/find-disk.ts'
import type { Finding } from '../../contract/finding.ts'
import { isControlPlane, isEtcdMember, isNode } from '../context.ts'
import { listFlooredComponents, memoryFloors } from '../reserved-resources.ts'
import { hostError, hostWarning, type SystemCheck, type SystemSubject } from './check.ts'

const mebibyte = 2 ** 20
const gibibyte = 2 ** 30

/** Memory that the operating system needs, in MiB. */
const systemMemory = { linux: 512, windows: 2048 } as const

export const checkMemory: SystemCheck = (subject) => {
  const { memoryBytes, os } = subject.system
  const sum = listFlooredComponents(subject).reduce<number>(
    (total, name) => total + memoryFloors[name],
    systemMemory[os],
  )
  const needed = sum * mebibyte
  if (memoryBytes >= 2 * needed) return []
  const figures = `${formatGiB(memoryBytes)} of memory; the system and the components need ${formatGiB(needed)}`
  const details = { hint: `add memory up to ${formatGiB(2 * needed)}, or remove roles` }
  return memoryBytes < needed
    ? [hostError(subject, 'HOST_MEMORY_SMALL', `the host has only ${figures}`, details)]
    : [
        hostWarning(
          subject,
          'HOST_MEMORY_SMALL',
          `the host has little free memory for pods: ${figures}`,
          details,
        ),
      ]
}

export const checkCpus: SystemCheck = (subject) => {
  if (!isControlPlane(subject) || subject.system.cpus > 1) return []
  const message = 'a control plane with one CPU is slow: etcd waits for other processes'
  return [hostWarning(subject, 'HOST_CPU_SMALL', message, { hint: 'use at least 2 CPUs' })]
}

export const checkDisks: SystemCheck = (subject) => [
  ...(isEtcdMember(subject) ? etcdDisk(subject) : []),
  ...(isNode(subject) ? podDisks(subject) : []),
]

function etcdDisk(subject: SystemSubject): Finding[] {
  const disk = findDisk(subject.system.disks, '/var/lib/etcd')
  if (disk === undefined || disk.availableBytes >= 8 * gibibyte) return []
  const message = `${disk.path} has ${formatGiB(disk.availableBytes)} free; the etcd database can grow to 8 GiB`
  return [hostWarning(subject, 'HOST_DISK_SMALL', message, { hint: 'df -h', component: 'etcd' })]
}

function podDisks(subject: SystemSubject): Finding[] {
  const directories =
    subject.system.os === 'linux'
      ? ['/var/lib/containerd', '/var/lib/kubelet']
      : [subject.cluster.spec.windows.baseDirectory, String.raw`C:\var\lib\kubelet`]
  const found = directories.flatMap((path) => findDisk(subject.system.disks, path) ?? [])
  return [...new Set(found)].flatMap((disk) => {
    const { path, availableBytes, totalBytes } = disk
    const share = totalBytes === 0 ? 0 : availableBytes / totalBytes
    if (availableBytes >= 10 * gibibyte && share >= 0.15) return []
    const left = `${formatGiB(availableBytes)} free (${Math.floor(share * 100)} %)`
    const message = `${path} has ${left}: the kubelet will soon remove images and evict pods`
    const hint = subject.system.os === 'linux' ? 'df -h' : 'Get-Volume'
    return [hostWarning(subject, 'HOST_DISK_SMALL', message, { hint, component: 'kubelet' })]
  })
}

function formatGiB(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`
}
