import { systemClock } from '../../host/clock.ts'
import type { WindowsHost } from '../../host/host.ts'
import { httpFetch } from '../../host/http-downloader.ts'
import { windowsLayout } from '../../host/layout.ts'
import { runningRelease } from '../../host/running-release.ts'
import { systemAlone } from '../../host/users.ts'
import { hostDisks } from '../../heal/probes/host-probe-deps.ts'
import { type Prober, prober } from '../../heal/probes/prober.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { scmServices } from '../scm/scm-services.ts'
import { windowsCommand } from './windows-command.ts'
import { windowsFiles } from './windows-files.ts'
import { windowsImages } from './windows-images.ts'
import { windowsTar } from './windows-tar.ts'
import { workerHands } from './worker-deps.ts'

export interface WindowsHostWish {
  /** Of the program that runs. */
  readonly version: string
  /** Where all of ours is. */
  readonly base: string
  readonly operations: WindowsOperations
  /** Where Windows itself is. */
  readonly systemRoot: string
}

/** The machine that we run on, for the system. */
export function windowsHost({ version, base, operations, systemRoot }: WindowsHostWish): Disposable & {
  readonly host: WindowsHost
  readonly probes: Prober
} {
  const layout = windowsLayout(base)
  const place = (path: string): string => path
  const command = windowsCommand(systemRoot)
  const files = windowsFiles(place, operations.files)
  const clock = systemClock
  const services = scmServices({ operations, layout, files, clock })
  const probes = prober({
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
    users: systemAlone,
    operations,
    services,
    worker: workerHands(layout, probes.ask, () => host),
    fetch: httpFetch(place, clock),
    tar: windowsTar(systemRoot, command),
    images: windowsImages(layout, command),
    clock,
    // Its manager knows the wrapper that has started us.
    release: runningRelease(version, place, process.execPath, process.ppid),
  }
  return { host, probes, [Symbol.dispose]: () => probes[Symbol.dispose]() }
}
