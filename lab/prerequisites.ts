import { run } from '../src/kit/command.ts'
import { HyperkubeError } from '../src/kit/errors.ts'
import { exists } from '../src/kit/files.ts'
import type { Report } from './report.ts'

/** What the lab uses of the machine: a file that shows it is there, and the Debian package that brings it. */
const needs: readonly { readonly file: string; readonly debian: string }[] = [
  { file: '/usr/bin/systemd-nspawn', debian: 'systemd-container' },
  { file: '/usr/sbin/debootstrap', debian: 'debootstrap' },
  { file: '/usr/sbin/nft', debian: 'nftables' },
  { file: '/usr/sbin/conntrack', debian: 'conntrack' },
  { file: '/usr/bin/ip', debian: 'iproute2' },
  { file: '/usr/bin/ssh', debian: 'openssh-client' },
  { file: '/usr/bin/openssl', debian: 'openssl' },
  { file: '/usr/bin/pgrep', debian: 'procps' },
  { file: '/usr/sbin/mkfs.ext4', debian: 'e2fsprogs' },
  { file: '/usr/bin/perl', debian: 'perl' },
  { file: '/usr/bin/gcc', debian: 'gcc' },
  { file: '/usr/include/seccomp.h', debian: 'libseccomp-dev' },
  { file: '/usr/bin/pkg-config', debian: 'pkg-config' },
  { file: '/bin/busybox', debian: 'busybox-static' },
]

/** The newest that any part's go.mod asks for. */
const goVersion = '1.26.8'

export async function missingPackages(): Promise<string[]> {
  const found = await Promise.all(needs.map(async ({ file }) => exists(file)))
  return needs.filter((_, index) => found[index] !== true).map(({ debian }) => debian)
}

/** Refuses early, with all that is missing at once. */
export async function requirePrerequisites(): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new HyperkubeError(
      'LAB_NEEDS_ROOT',
      'the lab makes namespaces, mounts and cgroups: it needs root',
      {
        hint: 'sudo -E npm run lab -- ...',
      },
    )
  }
  const missing = await missingPackages()
  if (missing.length > 0) {
    throw new HyperkubeError('LAB_PACKAGES_MISSING', `this machine lacks ${missing.join(', ')}`, {
      hint: 'npm run lab -- setup',
    })
  }
  await requireGo()
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
  const missing = await missingPackages()
  if (missing.length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await report.step(`install ${missing.join(', ')}`, async () => {
    await run(['apt-get', 'update', '-q'], { env })
    await run(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...missing], { env })
  })
}
