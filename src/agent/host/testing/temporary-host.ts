import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { exists } from '../../../kit/files.ts'
import type { Clock } from '../clock.ts'
import { hostCommand } from '../command.ts'
import type { LinuxHost } from '../host.ts'
import { linuxLayout } from '../layout.ts'
import { linuxFiles } from '../linux-files.ts'
import { memoryFetch } from './fake-downloader.ts'
import { type MemoryImages, memoryImages } from './fake-images.ts'
import { memoryKernel } from './fake-kernel.ts'
import { memorySystemd } from './fake-systemd.ts'
import { memoryUsers } from './fake-users.ts'
import { type Place, placeBelow } from '../local-path.ts'
import { runningRelease } from '../running-release.ts'
import { systemTar } from '../system-tar.ts'

export interface TemporaryHost extends LinuxHost {
  /** Where its files are. */
  readonly place: Place
  readonly world: Map<string, Uint8Array>
  readonly fetch: ReturnType<typeof memoryFetch>
  readonly users: ReturnType<typeof memoryUsers>
  readonly kernel: ReturnType<typeof memoryKernel>
  readonly systemd: ReturnType<typeof memorySystemd>
  readonly images: MemoryImages
  readonly clock: Clock & { time: number }
}

/** What only programs leave behind, and no program runs here. */
const nothingElse: Pick<LinuxHost, 'processes' | 'mounts' | 'packets' | 'cgroups'> = {
  processes: { list: async () => [], kill: async () => undefined },
  mounts: { list: async () => [], unmount: async () => undefined },
  packets: {
    links: async () => [],
    removeLink: async () => undefined,
    tables: async () => [],
    removeTable: async () => undefined,
    isEmpty: async () => true,
    rules: async () => '',
    changeRules: async () => undefined,
  },
  cgroups: { remove: async () => [] },
}

/** A host for tests: its files are real ones in a directory of their own, all else is memory. */
export async function temporaryHost(
  look?: (unit: string) => Promise<string>,
): Promise<TemporaryHost & AsyncDisposable> {
  // In memory where there is such a place: hundreds of synced writes would wait for the disk otherwise.
  const root = await mkdtemp(join((await exists('/dev/shm')) ? '/dev/shm' : tmpdir(), 'host-'))
  const place = placeBelow(root)
  const { units, modules, sysctls } = linuxLayout
  for (const path of [units, dirname(modules), dirname(sysctls), '/var/lib', '/var/log', '/opt', '/run']) {
    await mkdir(place(path), { recursive: true })
  }
  const files = linuxFiles(place)
  const world = new Map<string, Uint8Array>()
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
    place,
    world,
    layout: linuxLayout,
    files,
    users: memoryUsers(),
    kernel: memoryKernel({ 'net.ipv4.ip_forward': '0', 'vm.swappiness': '60' }),
    systemd: memorySystemd(files, linuxLayout, look),
    fetch: memoryFetch(place, world),
    tar: systemTar(place, hostCommand),
    images: memoryImages(),
    ...nothingElse,
    clock,
    release: runningRelease('0.1.0', place, import.meta.filename),
    [Symbol.asyncDispose]: async () => rm(root, { recursive: true, force: true }),
  }
}
