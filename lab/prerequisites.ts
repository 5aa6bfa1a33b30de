import { run } from '../src/kit/command.ts'
import { HyperkubeError } from '../src/kit/errors.ts'
import { exists } from '../src/kit/files.ts'
import type { Report } from './report.ts'

/** What the lab uses of the machine: a file that shows it is there, and the Debian package that brings it. */
interface Need {
  readonly file: string
  readonly debian: string
}

/** To compile and lay out the engine. */
const engineNeeds: readonly Need[] = [
  { file: '/usr/bin/gcc', debian: 'gcc' },
  { file: '/usr/include/stdio.h', debian: 'libc6-dev' },
  { file: '/usr/include/seccomp.h', debian: 'libseccomp-dev' },
  { file: '/usr/bin/pkg-config', debian: 'pkg-config' },
  { file: '/bin/busybox', debian: 'busybox-static' },
  { file: '/usr/sbin/nft', debian: 'nftables' },
  { file: '/usr/sbin/conntrack', debian: 'conntrack' },
]

/** To make hosts and take them away again. */
const hostNeeds: readonly Need[] = [
  { file: '/usr/bin/systemd-nspawn', debian: 'systemd-container' },
  { file: '/usr/sbin/debootstrap', debian: 'debootstrap' },
  { file: '/usr/sbin/nft', debian: 'nftables' },
  { file: '/usr/bin/ip', debian: 'iproute2' },
  { file: '/usr/bin/ssh', debian: 'openssh-client' },
  { file: '/usr/bin/openssl', debian: 'openssl' },
  { file: '/usr/bin/pgrep', debian: 'procps' },
  { file: '/usr/sbin/mkfs.ext4', debian: 'e2fsprogs' },
  { file: '/usr/bin/perl', debian: 'perl' },
]

/** For hosts with a kernel of their own, which few want: installed when one is made. */
const virtualMachineNeeds: readonly Need[] = [
  { file: '/usr/bin/qemu-system-x86_64', debian: 'qemu-system-x86' },
]

/** Windows' programs without Windows: a package of some hundred MB, installed when it is asked for. */
const wineNeeds: readonly Need[] = [{ file: '/usr/lib/wine/wine64', debian: 'wine64' }]

/** Only for the suites: the shells that completion is tried in, and a terminal that can be looked at. */
const suiteNeeds: readonly Need[] = [
  { file: '/usr/bin/zsh', debian: 'zsh' },
  { file: '/usr/bin/fish', debian: 'fish' },
  { file: '/usr/bin/tmux', debian: 'tmux' },
]

/** The newest that any part's go.mod asks for. */
const goVersion = '1.26.8'

function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new HyperkubeError('LAB_NEEDS_ROOT', 'the lab makes namespaces, mounts and cgroups: it needs root', {
    hint: 'use a root shell',
  })
}

export async function requireForHosts(): Promise<void> {
  requireRoot()
  await requirePackages(hostNeeds)
}

export async function requireForEngine(): Promise<void> {
  await requirePackages(engineNeeds)
  await requireGo()
}

async function missing(needs: readonly Need[]): Promise<string[]> {
  const found = await Promise.all(needs.map(async ({ file }) => exists(file)))
  return [...new Set(needs.filter((_, index) => found[index] !== true).map(({ debian }) => debian))]
}

/** Refuses early, with all that is missing at once. */
async function requirePackages(needs: readonly Need[]): Promise<void> {
  const packages = await missing(needs)
  if (packages.length === 0) return
  throw new HyperkubeError('LAB_PACKAGES_MISSING', `this machine lacks ${packages.join(', ')}`, {
    hint: 'npm run lab -- setup',
  })
}

async function requireGo(): Promise<void> {
  const asked = await run(['go', 'env', 'GOVERSION'], { allowFailure: true }).catch(() => undefined)
  const installed = /^go([\d.]+)/.exec(asked?.stdout ?? '')?.[1]
  if (installed !== undefined && installed.localeCompare(goVersion, 'en', { numeric: true }) >= 0) return
  throw new HyperkubeError(
    'LAB_GO_MISSING',
    `the engine is compiled with Go ${goVersion} or newer; ${installed ?? 'none'} is installed`,
    { hint: 'install Go from its own site or your distribution, then try again' },
  )
}

export async function installPackages(report: Report): Promise<void> {
  await install([...engineNeeds, ...hostNeeds, ...suiteNeeds], report)
}

export async function installForVirtualMachines(report: Report): Promise<void> {
  await install(virtualMachineNeeds, report)
}

export async function installWine(report: Report): Promise<void> {
  await install(wineNeeds, report)
}

async function install(needs: readonly Need[], report: Report): Promise<void> {
  requireRoot()
  const packages = await missing(needs)
  if (packages.length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await report.step(`install ${packages.join(', ')}`, async () => {
    await run(['apt-get', 'update', '-q'], { env })
    await run(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages], { env })
  })
}
