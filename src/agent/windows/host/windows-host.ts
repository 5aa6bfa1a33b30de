import { win32 } from 'node:path'
import { HyperkubeError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/printable.ts'
import { hostDisks } from '../../heal/probes/host-probe-deps.ts'
import { createProber, type Prober } from '../../heal/probes/prober.ts'
import { systemClock } from '../../host/clock.ts'
import type { RunCommand } from '../../host/command.ts'
import { createCtrImages } from '../../host/ctr-images.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsHost } from '../../host/host.ts'
import { createHttpDownloader } from '../../host/http-downloader.ts'
import type { Images } from '../../host/images.ts'
import { windowsLayout, type WindowsLayout } from '../../host/layout.ts'
import { createRunningRelease } from '../../host/running-release.ts'
import type { Tar } from '../../host/tar.ts'
import { systemUserOnly } from '../../host/users.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { scmServices } from '../scm/scm-services.ts'
import { windowsCommand } from './windows-command.ts'
import { windowsFiles } from './windows-files.ts'
import { createWorkerDeps } from './worker-deps.ts'

export interface WindowsHostOptions {
  /** Version of the running program. */
  readonly version: string
  /** Base directory of hyperkube. */
  readonly base: string
  readonly operations: WindowsOperations
  /** Directory of Windows, usually C:\Windows. */
  readonly systemRoot: string
}

/** Creates the host interface of the local machine. Hyperkube runs as SYSTEM. */
export function createWindowsHost({
  version,
  base,
  operations,
  systemRoot,
}: WindowsHostOptions): Disposable & {
  readonly host: WindowsHost
  readonly probes: Prober
} {
  const layout = windowsLayout(base)
  const toLocalPath = (path: string): string => path
  const command = windowsCommand(systemRoot)
  const files = windowsFiles(toLocalPath, operations.files)
  const clock = systemClock
  const services = scmServices({ operations, layout, files, clock })
  const probes = createProber({
    files,
    systemd: services,
    command,
    clock,
    monotonic: () => performance.now(),
    disks: hostDisks,
    addresses: () => [],
    networks: async () => {
      const [hns] = await operations.services.list({ names: ['hns'] })
      return hns?.state === 'Running' ? operations.networks.list({}) : undefined
    },
  })
  const host: WindowsHost = {
    os: 'windows',
    layout,
    files,
    users: systemUserOnly,
    operations,
    services,
    worker: createWorkerDeps(layout, probes.run, () => host),
    fetch: createHttpDownloader(toLocalPath, clock),
    tar: windowsTar(systemRoot, command),
    images: createWindowsImages(layout, command),
    clock,
    // The service process is the wrapper, which is the parent of this process.
    release: createRunningRelease(version, toLocalPath, process.execPath, process.ppid),
  }
  return { host, probes, [Symbol.dispose]: () => probes[Symbol.dispose]() }
}

/**
 * Manages images with ctr through the default pipe of containerd. Pulls use the registry configuration of
 * containerd.
 */
export function createWindowsImages(
  { settings }: Pick<WindowsLayout, 'settings'>,
  command: RunCommand,
): Images {
  const hosts = join(settings, 'containerd', 'certs.d')
  return {
    ...createCtrImages((path) => path, command),
    async pull(ctr, name, signal) {
      await command([ctr, '-n', 'k8s.io', 'images', 'pull', '--hosts-dir', hosts, name], { signal })
    },
  }
}

/**
 * Unpacks archives with the tar.exe of Windows, which also reads zip files. Entry names are checked before
 * unpacking.
 */
function windowsTar(systemRoot: string, command: RunCommand): Tar {
  const tar = win32.join(systemRoot, 'System32', 'tar.exe')
  return {
    async unpack({ path, into, strip }, signal) {
      const { stdout } = await command([tar, '-tf', path], { signal })
      const outside = stdout.split(/\r?\n/).find(escapesDirectory)
      if (outside !== undefined) throw archiveRefusedError(path, outside)
      await command([tar, '-xf', path, `--strip-components=${strip}`, '-C', into], { signal })
    },
  }
}

/** True if an archive entry would be written outside the target directory. */
function escapesDirectory(name: string): boolean {
  return /^[\\/]|^[A-Za-z]:/.test(name) || name.split(/[\\/]/).includes('..')
}

function archiveRefusedError(archive: string, name: string): HyperkubeError {
  const message = `in the archive ${archive} is ${toPrintable(name)}, which leads out of its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release has such a file: ask who made this archive before you trust it',
  })
}
