import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileExists } from '../../../kit/files.ts'
import type { Clock } from '../clock.ts'
import { runHostCommand } from '../command.ts'
import type { LinuxHost } from '../host.ts'
import { linuxLayout } from '../layout.ts'
import { createLinuxFiles } from '../linux/linux-files.ts'
import { createSystemTar } from '../linux/system-tar.ts'
import { createRunningRelease } from '../running-release.ts'
import { createPathMapper, type ToLocalPath } from '../local-files.ts'
import { createFakeDocker, type FakeDocker } from './fake-docker.ts'
import { createFakeDownloader } from './fake-downloader.ts'
import { createFakeImages, type FakeImages } from './fake-images.ts'
import { createFakeKernel } from './fake-kernel.ts'
import { createFakeSystemd } from './fake-systemd.ts'
import { createFakeUsers } from './fake-users.ts'

export interface TemporaryHost extends LinuxHost {
  /** Maps a path of the host to a path in its temporary directory. */
  readonly toLocalPath: ToLocalPath
  readonly remoteFiles: Map<string, Uint8Array>
  readonly fetch: ReturnType<typeof createFakeDownloader>
  readonly users: ReturnType<typeof createFakeUsers>
  readonly kernel: ReturnType<typeof createFakeKernel>
  readonly services: ReturnType<typeof createFakeSystemd>
  readonly images: FakeImages
  readonly docker: FakeDocker
  readonly clock: Clock & { time: number }
}

/** Fakes for leftovers of programs. They are empty, because no program runs on this host. */
const noLeftovers: Pick<LinuxHost, 'processes' | 'mounts' | 'packets' | 'cgroups'> = {
  processes: { list: async () => [], kill: async () => undefined },
  mounts: { list: async () => [], unmount: async () => undefined },
  packets: {
    links: async () => [],
    removeLink: async () => undefined,
    removeRoutes: async () => [],
    tables: async () => [],
    removeTable: async () => undefined,
    isEmpty: async () => true,
    rules: async () => '',
    changeRules: async () => undefined,
    sets: async () => [],
    removeSet: async () => undefined,
  },
  cgroups: { remove: async () => [] },
}

/** For tests: a host with real files in a temporary directory and fakes for everything else. */
export async function createTemporaryHost(
  observe?: (unit: string) => Promise<string>,
): Promise<TemporaryHost & AsyncDisposable> {
  // The temporary directory is in memory if possible, because hundreds of synced writes to a disk would be
  // slow.
  const root = await mkdtemp(join((await fileExists('/dev/shm')) ? '/dev/shm' : tmpdir(), 'host-'))
  const toLocalPath = createPathMapper(root)
  const { units, modules, sysctls } = linuxLayout
  for (const path of [units, dirname(modules), dirname(sysctls), '/var/lib', '/var/log', '/opt', '/run']) {
    await mkdir(toLocalPath(path), { recursive: true })
  }
  const files = createLinuxFiles(toLocalPath)
  const remoteFiles = new Map<string, Uint8Array>()
  const clock = {
    time: Date.UTC(2027, 0, 1),
    now: () => new Date(clock.time),
    pause: async (milliseconds: number, signal: AbortSignal) => {
      signal.throwIfAborted()
      clock.time += milliseconds
    },
  }
  return {
    os: 'linux',
    toLocalPath,
    remoteFiles,
    layout: linuxLayout,
    files,
    users: createFakeUsers(),
    kernel: createFakeKernel({ 'net.ipv4.ip_forward': '0', 'vm.swappiness': '60' }),
    services: createFakeSystemd(files, linuxLayout, observe),
    fetch: createFakeDownloader(toLocalPath, remoteFiles),
    tar: createSystemTar(toLocalPath, runHostCommand),
    images: createFakeImages(),
    docker: createFakeDocker(),
    ...noLeftovers,
    clock,
    release: createRunningRelease('0.1.0', toLocalPath, import.meta.filename),
    [Symbol.asyncDispose]: async () => rm(root, { recursive: true, force: true }),
  }
}
