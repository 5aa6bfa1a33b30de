import { fileExists } from '../src/kit/files.ts'
import { runProgram } from '../src/kit/command.ts'
import { HyperkubeError } from '../src/kit/errors.ts'
import type { Report } from './report.ts'

/** A file that proves that a tool is installed, and the Debian package that contains it. */
interface Prerequisite {
  readonly file: string
  readonly debian: string
}

/** Packages needed to compile and publish the upstream components. */
const buildPrerequisites: readonly Prerequisite[] = [
  { file: '/usr/bin/gcc', debian: 'gcc' },
  { file: '/usr/include/stdio.h', debian: 'libc6-dev' },
  { file: '/usr/include/seccomp.h', debian: 'libseccomp-dev' },
  { file: '/usr/bin/pkg-config', debian: 'pkg-config' },
  { file: '/bin/busybox', debian: 'busybox-static' },
  { file: '/usr/sbin/nft', debian: 'nftables' },
  { file: '/usr/sbin/conntrack', debian: 'conntrack' },
]

/** Packages needed to create and remove hosts. */
const hostPrerequisites: readonly Prerequisite[] = [
  { file: '/usr/bin/systemd-nspawn', debian: 'systemd-container' },
  { file: '/usr/sbin/debootstrap', debian: 'debootstrap' },
  { file: '/usr/sbin/nft', debian: 'nftables' },
  { file: '/usr/bin/ip', debian: 'iproute2' },
  { file: '/usr/bin/ssh', debian: 'openssh-client' },
  { file: '/usr/bin/openssl', debian: 'openssl' },
  { file: '/usr/bin/strip', debian: 'binutils' },
  { file: '/usr/bin/pgrep', debian: 'procps' },
  { file: '/usr/sbin/mkfs.ext4', debian: 'e2fsprogs' },
  { file: '/usr/bin/perl', debian: 'perl' },
]

/**
 * Packages needed for hosts with their own kernel. They are installed only when such a host is created,
 * because this is rare.
 */
const virtualMachinePrerequisites: readonly Prerequisite[] = [
  { file: '/usr/bin/qemu-system-x86_64', debian: 'qemu-system-x86' },
]

/**
 * Package needed to run Windows programs. It is installed only on request, because it has several hundred MB.
 */
const winePrerequisites: readonly Prerequisite[] = [{ file: '/usr/lib/wine/wine64', debian: 'wine64' }]

/**
 * Packages needed only for the test suites: shells for completion tests, a terminal whose screen can be read,
 * an HTTP proxy, tools that make and verify a release, and a browser.
 */
const suitePrerequisites: readonly Prerequisite[] = [
  { file: '/usr/bin/zsh', debian: 'zsh' },
  { file: '/usr/bin/fish', debian: 'fish' },
  { file: '/usr/bin/tmux', debian: 'tmux' },
  { file: '/usr/sbin/squid', debian: 'squid' },
  { file: '/usr/bin/curl', debian: 'curl' },
  { file: '/usr/bin/minisign', debian: 'minisign' },
  { file: '/usr/bin/rpmbuild', debian: 'rpm' },
  { file: '/usr/bin/chromium-headless-shell', debian: 'chromium-headless-shell' },
]

/**
 * Packages needed to build executables of all platforms. They are installed only on request, because most
 * work needs only the executable of this machine.
 */
const releasePrerequisites: readonly Prerequisite[] = [
  { file: '/usr/bin/qemu-aarch64-static', debian: 'qemu-user-static' },
  { file: '/usr/bin/aarch64-linux-gnu-strip', debian: 'binutils-aarch64-linux-gnu' },
  { file: '/usr/aarch64-linux-gnu/lib/libstdc++.so.6', debian: 'libstdc++6-arm64-cross' },
  { file: '/usr/bin/apt-ftparchive', debian: 'apt-utils' },
  { file: '/usr/bin/createrepo_c', debian: 'createrepo-c' },
]

/** Newest Go version that a go.mod of the lab requires. */
const goVersion = '1.26.8'

function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new HyperkubeError('LAB_NEEDS_ROOT', 'the lab makes namespaces, mounts and cgroups: it needs root', {
    hint: 'use a root shell',
  })
}

export async function requireHostTools(): Promise<void> {
  requireRoot()
  await requirePackages(hostPrerequisites)
}

export async function requireBuildTools(): Promise<void> {
  await requirePackages(buildPrerequisites)
  await requireGo()
}

async function listMissingPackages(prerequisites: readonly Prerequisite[]): Promise<string[]> {
  const found = await Promise.all(prerequisites.map(async ({ file }) => fileExists(file)))
  return [...new Set(prerequisites.filter((_, index) => found[index] !== true).map(({ debian }) => debian))]
}

/** Throws an error that names all missing packages. */
async function requirePackages(prerequisites: readonly Prerequisite[]): Promise<void> {
  const packages = await listMissingPackages(prerequisites)
  if (packages.length === 0) return
  throw new HyperkubeError('LAB_PACKAGES_MISSING', `this machine lacks ${packages.join(', ')}`, {
    hint: 'npm run lab -- setup',
  })
}

async function requireGo(): Promise<void> {
  const result = await runProgram(['go', 'env', 'GOVERSION'], { allowFailure: true }).catch(() => undefined)
  const installed = /^go([\d.]+)/.exec(result?.stdout ?? '')?.[1]
  if (installed !== undefined && installed.localeCompare(goVersion, 'en', { numeric: true }) >= 0) return
  throw new HyperkubeError(
    'LAB_GO_MISSING',
    `the components need Go ${goVersion} or newer; ${installed ?? 'none'} is installed`,
    { hint: 'install Go from its own site or your distribution, then try again' },
  )
}

export async function installPackages(report: Report): Promise<void> {
  await install([...buildPrerequisites, ...hostPrerequisites, ...suitePrerequisites], report)
}

export async function installVirtualMachineTools(report: Report): Promise<void> {
  await install(virtualMachinePrerequisites, report)
}

export async function installReleaseTools(report: Report): Promise<void> {
  await install([...suitePrerequisites, ...releasePrerequisites], report)
}

export async function installWine(report: Report): Promise<void> {
  await install(winePrerequisites, report)
}

async function install(prerequisites: readonly Prerequisite[], report: Report): Promise<void> {
  requireRoot()
  const packages = await listMissingPackages(prerequisites)
  if (packages.length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await report.step(`install ${packages.join(', ')}`, async () => {
    await runProgram(['apt-get', 'update', '-q'], { env })
    await runProgram(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages], { env })
  })
}
