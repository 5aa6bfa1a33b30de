import { win32 } from 'node:path'
import { z } from 'zod'
import { runProgram } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { hostDisks } from '../heal/probes/probe-deps.ts'
import type { RunProbe } from '../heal/probes/probe-runner.ts'
import { createProber, type Prober } from '../heal/probes/prober.ts'
import { findNodeName } from '../heal/report/node-events.ts'
import { systemClock } from '../host/clock.ts'
import type { RunCommand } from '../host/command.ts'
import { createCtrImages } from '../host/ctr-images.ts'
import { createHttpDownloader } from '../host/downloader.ts'
import { join } from '../host/host-path.ts'
import {
  type Host,
  type Images,
  systemUserOnly,
  type Tar,
  type WindowsHost,
  type WorkerDeps,
} from '../host/host.ts'
import { windowsLayout, type WindowsLayout } from '../host/layout.ts'
import { createRunningRelease } from '../host/running-release.ts'
import type { WindowsOperations } from '../host/windows-operations/table.ts'
import { hostLocalAddresses } from '../host/windows/host-local.ts'
import { createServiceControlManager } from '../host/windows/service-control-manager.ts'
import { windowsCommand } from '../host/windows/this-windows.ts'
import { windowsFiles } from '../host/windows/windows-files.ts'
import { createNodeClient } from '../renewal/node-api.ts'

export interface WindowsHostOptions {
  /** Version of the running program. */
  readonly version: string
  /** Base directory of hyperkube. */
  readonly base: string
  readonly operations: WindowsOperations
  /** Directory of Windows, usually C:\Windows. */
  readonly systemRoot: string
}

/** Creates the interfaces to the local Windows machine, on which hyperkube runs as SYSTEM. */
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
  const services = createServiceControlManager({ operations, layout, files, clock })
  const probes = createProber({
    files,
    services,
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
    // The service manager reports the process id of the service wrapper. The wrapper is the parent of this
    // process.
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
  const message = `the archive ${archive} contains ${toPrintable(name)}, a path outside its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release contains such a path: do not use this archive, and check its source',
  })
}

const nodeSchema = z.object({ spec: z.object({ podCIDR: z.string().optional() }) })

/** Timeout of an API request in milliseconds. */
const apiTimeoutMs = 5000

/**
 * Creates what reconciling a worker needs in addition to host operations: readiness probes, the API and the
 * IPAM plugin.
 */
function createWorkerDeps(
  layout: Pick<WindowsLayout, 'addresses'>,
  runProbe: RunProbe,
  host: () => Host,
): WorkerDeps {
  return {
    async isReady(component, signal) {
      const localProbes = component.probes.filter(({ scope }) => scope === 'local')
      const results = await Promise.all(localProbes.map(async (probe) => runProbe(probe, component, signal)))
      return results.every(({ state }) => state === 'healthy')
    },
    async subnet(plan, signal) {
      const name = findNodeName(plan)
      const client = await createNodeClient(host(), plan, signal).catch(() => undefined)
      if (client === undefined || name === undefined) return undefined
      try {
        const response = await client.request({
          method: 'GET',
          path: `/api/v1/nodes/${name}`,
          timeout: apiTimeoutMs,
        })
        return nodeSchema.parse(response).spec.podCIDR
      } catch {
        // The API does not respond, or the Node does not exist yet. The caller tries again later.
        signal.throwIfAborted()
        return undefined
      } finally {
        client[Symbol.dispose]()
      }
    },
    addresses: (plugins) =>
      hostLocalAddresses({
        program: join(plugins, 'host-local.exe'),
        plugins,
        dataDirectory: layout.addresses,
        run: runProgram,
      }),
  }
}
