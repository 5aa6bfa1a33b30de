import { systemClock } from '../../host/clock.ts'
import type { WindowsHost } from '../../host/host.ts'
import { createHttpDownloader } from '../../host/http-downloader.ts'
import { windowsLayout } from '../../host/layout.ts'
import { createRunningRelease } from '../../host/running-release.ts'
import { systemUserOnly } from '../../host/users.ts'
import { hostDisks } from '../../heal/probes/host-probe-deps.ts'
import { type Prober, createProber } from '../../heal/probes/prober.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { scmServices } from '../scm/scm-services.ts'
import { windowsCommand } from './windows-command.ts'
import { windowsFiles } from './windows-files.ts'
import { createWindowsImages } from './windows-images.ts'
import { windowsTar } from './windows-tar.ts'
import { createWorkerDeps } from './worker-deps.ts'

export interface WindowsHostOptions {
  /** Version of the running program. */
  readonly version: string
  /** Base directory of hyperkube. */
  readonly base: string
  readonly operations: WindowsOperations
  /** Directory of Windows itself. */
  readonly systemRoot: string
}

/** The local machine. Hyperkube runs as SYSTEM. */
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
    // The Service Control Manager knows the process of the wrapper that started this one.
    release: createRunningRelease(version, toLocalPath, process.execPath, process.ppid),
  }
  return { host, probes, [Symbol.dispose]: () => probes[Symbol.dispose]() }
}
