import { hostname } from 'node:os'
import { agentRollbackTimer } from '../../contract/host-paths.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { InstalledCertificate } from '../../contract/request.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { Secret } from '../../pki/secret.ts'
import { applyPlan } from '../apply/apply.ts'
import { createCertificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { endEtcdRestore, findActiveRestore, restoreEtcdData } from '../etcd-data/restore-etcd-data.ts'
import { wipeEtcd } from '../etcd-data/wipe-etcd.ts'
import { readLedger } from '../records/ledger.ts'
import { runReset, runReturn } from '../reset/reset.ts'
import { stopComponentServices } from '../reset/stop-services.ts'
import { readUnfinishedMoves, returnUnfinishedMoves } from '../reset/unfinished-moves.ts'
import { readPreviousPlan } from '../records/state-file.ts'
import { createProvisionalChanges } from '../auto-rollback/provisional-changes.ts'
import { collectFacts } from '../facts/linux/collect.ts'
import type { FactSource } from '../facts/source.ts'
import { collectWindowsFacts } from '../facts/windows/collect.ts'
import type { WindowsFactSource } from '../facts/windows/source.ts'
import { join } from '../host/host-path.ts'
import type { Host, LinuxHost, WindowsHost } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'

/** Operations that are the same on every operating system. */
type SharedOperation =
  | 'diff'
  | 'previousPlan'
  | 'certificates'
  | 'certificateRequests'
  | 'apply'
  | 'provisional'
  | 'beginProvisional'
  | 'moveProvisional'
  | 'confirmProvisional'
  | 'rollback'
  | 'unfinishedMoves'
  | 'returnUnfinishedMoves'

export function createSharedOperations(host: Host): Pick<HostOperations, SharedOperation> {
  // A client may repeat a request over a new connection. Without the mutex both requests would create keys at
  // the same time and overwrite each other's keys.
  const keyMutex = createMutex()
  const provisionalChanges = createProvisionalChanges(host)
  return {
    async diff(plan, withContents, renew) {
      const found = await diffHost(host, plan, renew)
      return withContents
        ? { ...found, fileContents: await readCurrentContents(host, plan, found.ops) }
        : found
    },
    previousPlan: async (differentFrom) =>
      differentFrom === undefined
        ? provisionalChanges.readPreviousPlan()
        : readPreviousPlan(host, differentFrom),
    certificates: async () => listInstalledCertificates(host),
    certificateRequests: async (plan, renew, planned) =>
      keyMutex(async () => createCertificateRequests(host, plan, renew, planned)),
    async apply({ plan, through, run, secrets, certificates }, emit, signal) {
      await provisionalChanges.forgetRolledBack()
      await applyPlan({
        host,
        plan,
        through,
        run,
        secrets: new Map(
          Object.entries(secrets).map(([name, text]) => [
            name,
            new Secret(name, Buffer.from(text, 'base64')),
          ]),
        ),
        certificates: new Map(Object.entries(certificates)),
        emit,
        signal,
      })
    },
    provisional: async () => provisionalChanges.current(),
    beginProvisional: async (provisional) => provisionalChanges.begin(provisional),
    moveProvisional: async (id, deadline) => provisionalChanges.reschedule(id, deadline),
    confirmProvisional: async (id) => provisionalChanges.confirm(id),
    rollback: async (run, emit, signal) => provisionalChanges.rollBack(run, emit, signal),
    unfinishedMoves: async () => readUnfinishedMoves(host),
    returnUnfinishedMoves: async (run, emit, signal) =>
      returnUnfinishedMoves({ host, name: hostname(), run, emit, signal }),
  }
}

/** Operations of an agent on a Linux host. */
export function createLinuxOperations(host: LinuxHost, source: FactSource): HostOperations {
  return {
    ...createSharedOperations(host),
    facts: async (name) => collectFacts(source, name),
    agentInstallation: async () => ({
      arch: process.arch === 'arm64' ? 'arm64' : 'amd64',
      provisional: (await host.files.stat(agentRollbackTimer)) !== undefined,
    }),
    stopServices: async (request, emit, signal) =>
      stopComponentServices({ host, name: hostname(), run: request.run, emit, signal }, request),
    restoreEtcdData: async ({ run, restore, sha256 }, emit, signal) =>
      restoreEtcdData({ host, name: hostname(), run, emit, signal }, { restore, sha256 }),
    wipeEtcd: async (run, emit, signal) => wipeEtcd({ host, name: hostname(), run, emit, signal }),
    activeRestore: async () => findActiveRestore(host),
    endRestore: async (id) => endEtcdRestore(host, id),
    reset: async (run, emit, signal) =>
      (await runReset({ host, name: hostname(), run, emit, signal })).exitHook,
    returnHost: async (run, emit, signal) =>
      (await runReturn({ host, name: hostname(), run, emit, signal })).exitHook,
  }
}

/** Operations of an agent on a Windows host, which is a worker and never an etcd member. */
export function createWindowsOperations(
  host: WindowsHost,
  source: Omit<WindowsFactSource, 'operations' | 'base'>,
): HostOperations {
  const { operations, layout } = host
  const noEtcd = async (): Promise<never> => {
    throw new HyperkubeError('WINDOWS_NO_ETCD', 'a Windows host cannot be an etcd member', {
      hint: 'to list the members: hyperkube etcd status',
    })
  }
  return {
    ...createSharedOperations(host),
    facts: async (name) => collectWindowsFacts({ ...source, operations, base: layout.base }, name),
    stopServices: async (request, emit, signal) =>
      stopComponentServices({ host, name: hostname(), run: request.run, emit, signal }, request),
    restoreEtcdData: noEtcd,
    wipeEtcd: noEtcd,
    activeRestore: async () => undefined,
    agentInstallation: async () => undefined,
    endRestore: noEtcd,
    reset: async (run, emit, signal) =>
      (await runReset({ host, name: hostname(), run, emit, signal })).exitHook,
    returnHost: async (run, emit, signal) =>
      (await runReturn({ host, name: hostname(), run, emit, signal })).exitHook,
  }
}

/** Maximum size of a file that is shown as a diff. */
const maxContentBytes = 256 * 1024

/**
 * Reads the current content of files and units that ops would change, to show an operator the difference. The
 * result is keyed by the name in the op. Secrets and files that may contain secrets are left out.
 */
async function readCurrentContents(
  host: Host,
  { components }: NodePlan,
  ops: readonly Op[],
): Promise<Record<string, string>> {
  const readable = new Set(
    components.flatMap((component) => [
      ...component.files.filter(({ content }) => content.kind === 'text').map(({ path }) => path),
      ...component.derivedFiles.map(({ path }) => path),
    ]),
  )
  const toRead = ops.flatMap(({ action, target, name }): (readonly [string, string])[] => {
    if (action !== 'change') return []
    // On Windows a service is not defined by a text file, so there is no content to show.
    if (target === 'service') return host.os === 'linux' ? [[name, join(host.layout.units, name)]] : []
    return readable.has(name) ? [[name, name]] : []
  })
  const contents = toRead.map(async ([name, path]) => {
    const bytes = await host.files.read(path)
    return bytes === undefined || bytes.length > maxContentBytes
      ? []
      : [[name, bytes.toString('utf8')] as const]
  })
  return Object.fromEntries((await Promise.all(contents)).flat())
}

/** Lists every certificate in the ledger with the current content of its file. */
export async function listInstalledCertificates(host: Host): Promise<InstalledCertificate[]> {
  const resources = (await readLedger(host))?.resources ?? []
  const found: InstalledCertificate[] = []
  for (const resource of resources) {
    if (resource.target !== 'certificate') continue
    const { name: file, ca, owners } = resource
    const certificate = (await host.files.read(file))?.toString('utf8')
    const component = owners[0]?.component ?? ''
    found.push({ component, file, ca, ...(certificate === undefined ? {} : { certificate }) })
  }
  return found
}
