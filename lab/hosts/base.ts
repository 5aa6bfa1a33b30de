import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { keep, recipeDigest } from '../cache.ts'
import type { Report } from '../report.ts'

/**
 * What hosts are made of. Containers of all labs share one root file system, read-only, under an overlay of their own;
 * a virtual machine gets a copy of another one, which has a kernel in it.
 */
export type BaseKind = 'container' | 'virtual-machine'

const suite = 'bookworm'

const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'openssh-server',
  'iproute2',
  'iptables',
  'nftables',
  'ipset',
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

const machinePackages = ['linux-image-cloud-amd64', 'udev']

const networkd = 'systemd-networkd.service'

/** What would only wait for a network or a clock that a lab does not have. */
const masked = [
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
 * nspawn hands a host its cgroup version 1 controllers read-only; a machine has them writable, and its mounts
 * shared, before anything else starts.
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

/** The base's directory in the cache, made first if it is not there. */
export async function ensureBase(
  cache: string,
  report: Report,
  kind: BaseKind = 'container',
): Promise<string> {
  const { recipe, include, furnish } = bases[kind]
  const key = recipeDigest(JSON.stringify(recipe))
  return keep(join(cache, 'base', key), async (unfinished) => {
    const mirror = await debianMirror()
    await report.step(`make the base of every ${kind}`, async (note) => {
      const list = `--include=${include.join(',')}`
      await run(['debootstrap', '--variant=minbase', list, suite, unfinished, mirror], { onLine: note })
      await furnishHost(unfinished)
      await furnish(unfinished)
    })
  })
}

interface Base {
  /** All that it is made from: something else is another base. */
  readonly recipe: readonly unknown[]
  readonly include: readonly string[]
  /** What it has beyond what is on every host. */
  readonly furnish: (root: string) => Promise<void>
}

const bases: Readonly<Record<BaseKind, Base>> = {
  container: {
    recipe: [suite, packages, masked, machineUnit, machineScript, sshdSettings],
    include: packages,
    furnish: furnishContainer,
  },
  'virtual-machine': {
    recipe: [suite, packages, machinePackages, masked, sshdSettings],
    include: [...packages, ...machinePackages],
    furnish: furnishVirtualMachine,
  },
}

async function furnishContainer(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  await mkdir(join(units, 'sysinit.target.wants'), { recursive: true })
  await writeFile(join(units, 'lab-machine.service'), machineUnit)
  await symlink('../lab-machine.service', join(units, 'sysinit.target.wants/lab-machine.service'))
  await writeFile(join(root, 'usr/local/sbin/lab-machine'), machineScript, { mode: 0o755 })
  for (const directory of ['containerd', 'kubelet', 'etcd']) {
    await mkdir(join(root, 'var/lib', directory), { recursive: true })
  }
}

/** Its address is its own matter; the network of a container is made from outside. */
async function furnishVirtualMachine(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  await rm(join(units, networkd))
  await mkdir(join(units, 'multi-user.target.wants'), { recursive: true })
  await symlink(join('/lib/systemd/system', networkd), join(units, 'multi-user.target.wants', networkd))
}

async function furnishHost(root: string): Promise<void> {
  const units = join(root, 'etc/systemd/system')
  for (const unit of masked) {
    await rm(join(units, unit), { force: true })
    await symlink('/dev/null', join(units, unit))
  }
  await writeFile(join(root, 'etc/ssh/sshd_config.d/lab.conf'), sshdSettings)
  await run(['sh', '-c', 'rm -f "$1"/etc/ssh/ssh_host_*', 'sh', root])
  await rm(join(root, 'etc/resolv.conf'), { force: true })
  for (const empty of ['etc/machine-id', 'etc/resolv.conf']) await writeFile(join(root, empty), '')
  await rm(join(root, 'var/lib/dbus/machine-id'), { force: true })
  await rm(join(root, 'var/cache/apt'), { recursive: true, force: true })
  await rm(join(root, 'var/lib/apt/lists'), { recursive: true, force: true })
}

/** Where this machine's own apt gets Debian from. */
async function debianMirror(): Promise<string> {
  const given = process.env['HYPERKUBE_LAB_DEBIAN']
  if (given !== undefined) return given
  const format = '$(ORIGIN) $(CODENAME) $(SITE)'
  const asked = await run(['apt-get', 'indextargets', '--format', format, 'Created-By: Packages'], {
    allowFailure: true,
  }).catch(() => undefined)
  // Before the first update apt does not know yet whose a source is.
  const site = new RegExp(`^(?:Debian)? ${suite} (.+)$`, 'm').exec(asked?.stdout ?? '')?.[1]
  if (site === undefined) {
    throw new HyperkubeError('NO_DEBIAN_MIRROR', `apt on this machine knows no source of Debian ${suite}`, {
      hint: 'name one in HYPERKUBE_LAB_DEBIAN, or run apt-get update first',
    })
  }
  return site
}
