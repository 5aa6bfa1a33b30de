import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { ensureCached, digestRecipe } from '../cache.ts'
import type { Report } from '../report.ts'

/**
 * Kind of root file system that hosts are made from. Containers share one read-only root file system, each
 * with its own overlay; `docker` is the same with Debian's Docker. A virtual machine gets a copy of a root file
 * system that contains a kernel.
 */
export type BaseKind = 'container' | 'docker' | 'virtual-machine'

const debianSuite = 'bookworm'

const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'openssh-server',
  'iproute2',
  'iptables',
  'nftables',
  'ipset',
  'keepalived',
  'conntrack',
  'kmod',
  'ca-certificates',
  'procps',
  'curl',
  'socat',
  'ebtables',
  'ethtool',
  'sudo',
]

/** Docker, with the containerd and runc that it depends on. */
const dockerPackages = ['docker.io']

const machinePackages = ['linux-image-cloud-amd64', 'udev']

const networkd = 'systemd-networkd.service'

/** Units that lab hosts do not need: network, name resolution, time and periodic maintenance. */
const maskedUnits = [
  networkd,
  'systemd-resolved.service',
  'systemd-timesyncd.service',
  'systemd-firstboot.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
]

/**
 * Unit that runs before all others. It makes the cgroup version 1 controllers writable, which nspawn mounts
 * read-only, and makes mounts shared as on a real machine.
 */
const machineUnit = `[Unit]
Description=Make this host look like a machine
DefaultDependencies=no
Before=sysinit.target

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/lab-machine

[Install]
WantedBy=sysinit.target
`

const machineScript = `#!/bin/sh
set -eu
mount --make-rshared /
for directory in /sys/fs/cgroup/*; do
  controller=\${directory##*/}
  case $controller in systemd|unified) continue ;; esac
  if [ -L "$directory" ] || ! mountpoint -q "$directory"; then continue; fi
  umount "$directory"
  mount -t cgroup -o "$controller" cgroup "$directory"
done
`

const sshdSettings = `PermitRootLogin prohibit-password
PasswordAuthentication no
UseDNS no
MaxSessions 100
MaxStartups 100
`

/**
 * Returns the directory of the base (root file system) in the cache, and creates the base if it is missing.
 */
export async function ensureBase(
  cache: string,
  report: Report,
  kind: BaseKind = 'container',
): Promise<string> {
  const { recipe, include, configure } = bases[kind]
  const key = digestRecipe(JSON.stringify(recipe))
  return ensureCached(join(cache, 'base', key), async (unfinished) => {
    const mirror = await findDebianMirror()
    await report.step(`make the base of every ${kind}`, async (note) => {
      const list = `--include=${include.join(',')}`
      await runProgram(['debootstrap', '--variant=minbase', list, debianSuite, unfinished, mirror], {
        onLine: note,
      })
      await configureHost(unfinished)
      await configure(unfinished)
    })
  })
}

interface Base {
  /** All inputs of the base (root file system). Their digest is the name of the base in the cache. */
  readonly recipe: readonly unknown[]
  readonly include: readonly string[]
  /** Applies the configuration that only this kind of root file system needs. */
  readonly configure: (root: string) => Promise<void>
}

const bases: Readonly<Record<BaseKind, Base>> = {
  container: {
    recipe: [debianSuite, packages, maskedUnits, machineUnit, machineScript, sshdSettings],
    include: packages,
    configure: configureContainer,
  },
  docker: {
    recipe: [debianSuite, packages, dockerPackages, maskedUnits, machineUnit, machineScript, sshdSettings],
    include: [...packages, ...dockerPackages],
    configure: async (root) => {
      await configureContainer(root)
      await mkdir(join(root, 'var/lib/docker'), { recursive: true })
    },
  },
  'virtual-machine': {
    recipe: [debianSuite, packages, machinePackages, maskedUnits, sshdSettings],
    include: [...packages, ...machinePackages],
    configure: configureVirtualMachine,
  },
}

async function configureContainer(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  await mkdir(join(units, 'sysinit.target.wants'), { recursive: true })
  await writeFile(join(units, 'lab-machine.service'), machineUnit)
  await symlink('../lab-machine.service', join(units, 'sysinit.target.wants/lab-machine.service'))
  await writeFile(join(root, 'usr/local/sbin/lab-machine'), machineScript, { mode: 0o755 })
  for (const directory of ['containerd', 'kubelet', 'etcd']) {
    await mkdir(join(root, 'var/lib', directory), { recursive: true })
  }
}

/**
 * Enables networkd, because a virtual machine configures its own address. The network of a container is
 * configured from outside.
 */
async function configureVirtualMachine(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  await rm(join(units, networkd))
  await mkdir(join(units, 'multi-user.target.wants'), { recursive: true })
  await symlink(join('/lib/systemd/system', networkd), join(units, 'multi-user.target.wants', networkd))
}

async function configureHost(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  for (const unit of maskedUnits) {
    await rm(join(units, unit), { force: true })
    await symlink('/dev/null', join(units, unit))
  }
  await writeFile(join(root, 'etc/ssh/sshd_config.d/lab.conf'), sshdSettings)
  await runProgram(['sh', '-c', 'rm -f "$1"/etc/ssh/ssh_host_*', 'sh', root])
  await rm(join(root, 'etc/resolv.conf'), { force: true })
  for (const empty of ['etc/machine-id', 'etc/resolv.conf']) await writeFile(join(root, empty), '')
  await rm(join(root, 'var/lib/dbus/machine-id'), { force: true })
  await rm(join(root, 'var/cache/apt'), { recursive: true, force: true })
  await rm(join(root, 'var/lib/apt/lists'), { recursive: true, force: true })
}

/** Finds the Debian mirror: HYPERKUBE_LAB_DEBIAN, or the mirror that apt on this machine uses. */
async function findDebianMirror(): Promise<string> {
  const configured = process.env['HYPERKUBE_LAB_DEBIAN']
  if (configured !== undefined) return configured
  const format = '$(ORIGIN) $(CODENAME) $(SITE)'
  const result = await runProgram(['apt-get', 'indextargets', '--format', format, 'Created-By: Packages'], {
    allowFailure: true,
  }).catch(() => undefined)
  // The origin is optional, because apt does not know it before the first `apt-get update`.
  const site = new RegExp(`^(?:Debian)? ${debianSuite} (.+)$`, 'm').exec(result?.stdout ?? '')?.[1]
  if (site === undefined) {
    throw new HyperkubeError(
      'NO_DEBIAN_MIRROR',
      `apt on this machine knows no source of Debian ${debianSuite}`,
      {
        hint: 'name one in HYPERKUBE_LAB_DEBIAN, or run apt-get update first',
      },
    )
  }
  return site
}
