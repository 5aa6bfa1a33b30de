import { type Fact, readRequiredFile } from '../source.ts'

/**
 * Lists the capabilities that process 1 lacks. Services inherit the capabilities of process 1, while the
 * process that collects facts may have fewer.
 */
export const readMissingCapabilities: Fact<'missingCapabilities'> = async (source) => {
  const [status, last] = await Promise.all([
    readRequiredFile(source, '/proc/1/status'),
    readRequiredFile(source, '/proc/sys/kernel/cap_last_cap'),
  ])
  return findMissingCapabilities(status, last)
}

/** Names of capabilities. The index in this list is the capability number of the kernel. */
const capabilityNames = [
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

/**
 * Lists capabilities that the kernel knows and the bounding set lacks. The arguments are the contents of
 * /proc/1/status and cap_last_cap.
 */
export function findMissingCapabilities(status: string, last: string): string[] {
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return capabilityNames
    .slice(0, Number(last) + 1)
    .filter((_, bit) => (bounding & (1n << BigInt(bit))) === 0n)
    .toSorted()
}

/** Files that exist only in containers. Container managers create them, or systemd inside the container. */
const markerFiles = [
  '/run/host/container-manager',
  '/run/systemd/container',
  '/run/.containerenv',
  '/.dockerenv',
]

export const readContainer: Fact<'container'> = async ({ exists, readFile }) => {
  const [found, environment] = await Promise.all([
    Promise.all(markerFiles.map(exists)),
    readFile('/proc/1/environ'),
  ])
  return found.includes(true) || hasContainerVariable(environment ?? '')
}

/** True if the environment of process 1 has a `container` variable. Variables are separated by zero bytes. */
function hasContainerVariable(environment: string): boolean {
  return environment.split('\0').some((variable) => /^container=./.test(variable))
}
