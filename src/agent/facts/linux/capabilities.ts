import { readNeeded } from '../source.ts'
import type { Fact } from './fact.ts'

/** The first process is asked, because services come from it: whoever takes the facts may have been given less. */
export const missingCapabilities: Fact<'missingCapabilities'> = async (source) => {
  const [status, last] = await Promise.all([
    readNeeded(source, '/proc/1/status'),
    readNeeded(source, '/proc/sys/kernel/cap_last_cap'),
  ])
  return lacking(status, last)
}

/** By the number that the kernel gives them. */
const names = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_DAC_READ_SEARCH',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_SETGID',
  'CAP_SETUID',
  'CAP_SETPCAP',
  'CAP_LINUX_IMMUTABLE',
  'CAP_NET_BIND_SERVICE',
  'CAP_NET_BROADCAST',
  'CAP_NET_ADMIN',
  'CAP_NET_RAW',
  'CAP_IPC_LOCK',
  'CAP_IPC_OWNER',
  'CAP_SYS_MODULE',
  'CAP_SYS_RAWIO',
  'CAP_SYS_CHROOT',
  'CAP_SYS_PTRACE',
  'CAP_SYS_PACCT',
  'CAP_SYS_ADMIN',
  'CAP_SYS_BOOT',
  'CAP_SYS_NICE',
  'CAP_SYS_RESOURCE',
  'CAP_SYS_TIME',
  'CAP_SYS_TTY_CONFIG',
  'CAP_MKNOD',
  'CAP_LEASE',
  'CAP_AUDIT_WRITE',
  'CAP_AUDIT_CONTROL',
  'CAP_SETFCAP',
  'CAP_MAC_OVERRIDE',
  'CAP_MAC_ADMIN',
  'CAP_SYSLOG',
  'CAP_WAKE_ALARM',
  'CAP_BLOCK_SUSPEND',
  'CAP_AUDIT_READ',
  'CAP_PERFMON',
  'CAP_BPF',
  'CAP_CHECKPOINT_RESTORE',
]

/** Those of the kernel that are not in the bounding set; from the texts of status and cap_last_cap. */
export function lacking(status: string, last: string): string[] {
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return names
    .slice(0, Number(last) + 1)
    .filter((_, bit) => (bounding & (1n << BigInt(bit))) === 0n)
    .toSorted()
}
