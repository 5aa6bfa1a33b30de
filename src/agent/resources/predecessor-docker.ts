import type { DockerRecord, Predecessor } from '../../contract/predecessor.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { join } from '../host/host-path.ts'
import type { LinuxHost } from '../host/host.ts'
import { isDown } from '../host/service-manager.ts'
import { killContainerProcesses, unmountBelow } from './containers.ts'
import {
  noDocker,
  readContainerState,
  restoreContainerState,
  stopContainer,
} from './predecessor-container.ts'
import { removeChains, removeTables } from './packet-rules.ts'
import { removeWrittenFiles } from './predecessor-data.ts'
import { inspectReplacedUnit, recordUnit, replaceUnit, restoreUnit } from './predecessor-unit.ts'
import {
  type MakeContext,
  type RemoveResult,
  type ResourceObservation,
  wasRemoved,
} from './resource-handler.ts'
import { emptyDirectory, removeIfEmpty } from './resource-paths.ts'
import { waitFor } from './wait-for.ts'

/** Units of Docker. The socket comes first, because it starts the service. */
const dockerUnits = ['docker.socket', 'docker.service']
const runtimeUnit = 'containerd.service'
const runtimeSocket = '/run/containerd/containerd.sock'
const runtimeData = '/var/lib/containerd'
/** Directory for the data of Docker's containerd. It is on the same file system as the data. */
const keptData = join(runtimeData, 'before-hyperkube')
/** The same directory until all data is there. */
const unfinishedData = `${keptData}.new`
/**
 * Containers of RKE1 that only some hosts have. RKE1 takes snapshots of etcd with this one. It runs by default on
 * etcd members, and ends with Docker.
 */
const optionalContainers = ['etcd-rolling-snapshots']
/** Directory in which CNI plugins record the addresses of pods. */
const cniState = '/var/lib/cni'
/** What CNI plugins create in the kernel for ports of hosts and for masquerading. */
const cniRules = { tables: ['cni_hostport', 'cni_plugins_masquerade'], chains: ['CNI-'] }

/**
 * Directories that the containerd and the kubelet of hyperkube create, innermost first. Those of RKE1 have their
 * plugins elsewhere.
 */
const createdDirectories = [
  '/opt/containerd/bin',
  '/opt/containerd/lib',
  '/opt/containerd',
  '/usr/libexec/kubernetes/kubelet-plugins/volume/exec',
  '/usr/libexec/kubernetes/kubelet-plugins/volume',
  '/usr/libexec/kubernetes/kubelet-plugins',
  '/usr/libexec/kubernetes',
]

/** Time in which a unit must stop or start. Docker stops its containers first. */
const unitTimeoutMs = 120_000

type Docker = Extract<Predecessor, { kind: 'docker' }>

/**
 * Reads what a host needs to return to Docker. Throws if a container is missing, or if Docker also runs
 * containers that nothing replaces.
 */
export async function recordDocker(
  { containers, kept }: Docker,
  context: MakeContext<LinuxHost>,
): Promise<DockerRecord> {
  const { host, component } = context
  const responds = await checkOtherContainers(host, [...containers, ...optionalContainers])
  if (kept && !responds) throw noDocker('docker', component.name)
  const units = await host.services.showAll(dockerUnits)
  const [, service] = units
  if (kept && service?.active !== 'active') throw noDockerUnit(component.name)
  const states = []
  for (const container of containers) states.push(await readContainerState(container, context, kept))
  for (const container of optionalContainers)
    if (typeof (await host.docker.find(container)) === 'object')
      states.push(await readContainerState(container, context, kept))
  const entries = (await host.files.list(runtimeData)) ?? []
  return {
    kind: 'docker',
    containers: states,
    units: dockerUnits.map((unit, index) => ({
      unit,
      running: units[index]?.active === 'active',
      enabled: units[index]?.enabled ?? false,
    })),
    runtime: await recordUnit(runtimeUnit, context),
    data: entries.map(({ name }) => name).toSorted(),
  }
}

/**
 * Throws if Docker runs containers that end with it and that nothing replaces. Returns false if Docker does not
 * respond.
 */
async function checkOtherContainers({ docker }: LinuxHost, names: readonly string[]): Promise<boolean> {
  const others = await docker.listOthers(names)
  if (others === 'unavailable') return false
  if (others.length === 0) return true
  throw new HyperkubeError(
    'PREDECESSOR_OTHER_CONTAINERS',
    `Docker also runs containers that would end with it: ${others.join(', ')}`,
    {
      hint: `move them to another host, or stop them: docker stop ${others.join(' ')}; then run the same command again`,
    },
  )
}

function noDockerUnit(component: string): HyperkubeError {
  return new HyperkubeError(
    'PREDECESSOR_NO_DOCKER',
    'Docker responds, but it is not the service docker.service, so it can neither stop nor start',
    {
      component,
      hint: 'on the host: systemctl status docker; only a Docker with this service can be replaced, for example that of the distribution',
    },
  )
}

export async function inspectReplacedDocker(
  host: LinuxHost,
  { runtime }: DockerRecord,
): Promise<ResourceObservation> {
  if (await isDockerActive(host)) return { drift: 'Docker runs, or would start with the host' }
  if ((await host.files.stat(keptData)) === undefined) return { drift: `${keptData} does not exist` }
  return inspectReplacedUnit(host, runtime)
}

async function isDockerActive({ services }: LinuxHost): Promise<boolean> {
  const states = await services.showAll(dockerUnits)
  return states.some((state) => state.enabled || !isDown(state))
}

/**
 * Ends the containers, the pods in Docker and Docker itself, and keeps the data of its containerd apart. Every
 * part may be repeated.
 */
export async function replaceDocker(
  context: MakeContext<LinuxHost>,
  { containers, runtime, data }: DockerRecord,
  isKept: boolean,
): Promise<boolean> {
  const { host, signal } = context
  const { services, docker } = host
  const isActive = await isDockerActive(host)
  await checkOtherContainers(
    host,
    containers.map(({ container }) => container),
  )
  for (const { container } of containers) await stopContainer(context, container)
  await docker.removePods(signal)
  if (isActive) {
    for (const unit of dockerUnits) {
      // Not every distribution has docker.socket, and systemctl cannot disable a unit that does not exist.
      if ((await services.show(unit)).enabled) await services.disable(unit)
      await stopUnit(context, unit)
    }
  }
  const isPending = (await host.files.stat(keptData)) === undefined
  if (isPending) {
    // This is still the containerd of Docker. Later the unit is that of hyperkube.
    await stopUnit(context, runtimeUnit)
    await releasePodNetwork(host)
    await keepData(host, data)
  }
  const isHidden = await replaceUnit(host, runtime, isKept)
  const isDiscarded = !isKept && ((await host.files.list(keptData)) ?? []).length > 0
  if (isDiscarded) await emptyDirectory(host, keptData)
  return isActive || isPending || isHidden || isDiscarded
}

/**
 * Releases addresses and ports of the host that pods had. Nothing tells CNI plugins that these pods have ended. A
 * remaining rule for a port precedes that of the next pod with this port, and sends packets to the address of the past.
 */
async function releasePodNetwork(host: LinuxHost): Promise<void> {
  await emptyDirectory(host, cniState)
  await removeTables(host, cniRules.tables)
  await removeChains(host, cniRules.chains)
}

/** Moves the data of Docker's containerd away. The last rename shows that all is done. */
async function keepData({ files }: LinuxHost, names: readonly string[]): Promise<void> {
  const access = { uid: 0, gid: 0, mode: 0o700 }
  for (const path of [runtimeData, unfinishedData])
    if ((await files.stat(path)) === undefined) await files.makeDirectory(path, access)
  for (const name of names) {
    const [path, target] = [join(runtimeData, name), join(unfinishedData, name)]
    // After a power cut in mid-move, the host has started Docker's containerd, which creates empty data.
    if ((await files.stat(target)) !== undefined) await files.removeTree(path)
    else if ((await files.stat(path)) !== undefined) await files.rename(path, target)
  }
  await files.rename(unfinishedData, keptData)
}

interface UnitStop extends Pick<MakeContext<LinuxHost>, 'host' | 'emit' | 'signal'> {
  readonly component: { readonly name: string }
}

async function stopUnit({ host, component, emit, signal }: UnitStop, unit: string): Promise<void> {
  await host.services.stop(unit)
  await waitForUnit(host, {
    what: `${unit} to stop`,
    check: async () => isDown(await host.services.show(unit)),
    component: component.name,
    emit: (what) => emit(what, component.name),
    signal,
  })
}

interface UnitWait {
  readonly what: string
  readonly check: () => Promise<boolean>
  readonly component: string
  readonly emit: Parameters<typeof waitFor>[1]['emit']
  readonly signal: AbortSignal
}

async function waitForUnit({ clock }: LinuxHost, wait: UnitWait): Promise<void> {
  const { what, check, component, emit, signal } = wait
  const deadline = clock.now().getTime() + unitTimeoutMs
  await waitFor(
    async () => {
      if (await check()) return { found: undefined }
      if (clock.now().getTime() < deadline) return { for: what }
      throw new HyperkubeError(
        'PREDECESSOR_RUNS',
        `waited ${unitTimeoutMs / 1000} seconds in vain for ${what}`,
        { component, hint: 'on the host: systemctl status docker; then run the same command again' },
      )
    },
    { clock, signal, emit },
  )
}

/**
 * Ends the pods of hyperkube's containerd, which has already stopped. Then restores the data and the units, and
 * starts the containers that were running.
 */
export async function restoreDocker(host: LinuxHost, record: DockerRecord): Promise<RemoveResult> {
  const { services, docker, files } = host
  const { signal } = new AbortController()
  // After a power cut in mid-move, Docker's containerd runs with empty data. It must not run while its data returns.
  for (const directory of [keptData, unfinishedData])
    if ((await files.stat(directory)) !== undefined)
      await stopUnit({ host, component: { name: 'containerd' }, emit: () => undefined, signal }, runtimeUnit)
  if ((await files.stat(keptData)) !== undefined) {
    await killContainerProcesses(host, { runtimes: [runtimeSocket], plugins: [] }, signal)
    await unmountBelow(host, [runtimeData, '/run/containerd', '/run/netns/cni-'])
    await releasePodNetwork(host)
  }
  for (const directory of [keptData, unfinishedData]) await returnData(host, directory, record.data)
  for (const directory of createdDirectories) await removeIfEmpty(host, directory)
  await restoreUnit(host, record.runtime)
  for (const { unit, running, enabled } of record.units) {
    if (enabled) await services.enable([unit])
    if (running) await services.start(unit)
  }
  await waitForUnit(host, {
    what: 'Docker to respond',
    check: async () => (await docker.listOthers([])) !== 'unavailable',
    component: 'containerd',
    emit: () => undefined,
    signal,
  })
  for (const state of record.containers) {
    await removeWrittenFiles(host, state.container)
    await restoreContainerState(host, state)
  }
  return wasRemoved
}

/** Removes the data of hyperkube's containerd and moves the kept data back. Every part may be repeated. */
async function returnData(host: LinuxHost, directory: string, names: readonly string[]): Promise<void> {
  const { files } = host
  const entries = await files.list(directory)
  if (entries === undefined) return
  const kept = new Set(entries.map(({ name }) => name))
  for (const { name } of (await files.list(runtimeData)) ?? []) {
    const path = join(runtimeData, name)
    // A name of the record that is not kept any more was moved back before an interruption.
    const isOwn = path !== directory && (kept.has(name) || !names.includes(name))
    if (isOwn) await files.removeTree(path)
  }
  for (const name of kept) await files.rename(join(directory, name), join(runtimeData, name))
  await removeIfEmpty(host, directory)
}
