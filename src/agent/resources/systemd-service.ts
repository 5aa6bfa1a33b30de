import { join } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { ServiceSpec } from '../../contract/service.ts'
import type { LinuxHost } from '../host/host.ts'
import {
  type PlannedFileRecord,
  type PlannedFileSpec,
  recordFileBefore,
  inspectFile,
  writePlannedFile,
  removePlannedFile,
} from './planned-file.ts'
import {
  policyService,
  proxyRules,
  proxyService,
  removePolicyRules,
  removeProxyRules,
} from './packet-rules.ts'
import { type ResourceHandler, type ManagedResource } from './resource-handler.ts'

export type SystemdService = Extract<ServiceSpec, { supervisor: 'systemd' }>

/** Access to a unit file. The CIS benchmark requires that only root can read it. */
const access = { owner: 'root', mode: '0600' } as const

/** Handler for systemd unit files. Starts and stops are separate ops. */
export const systemdServiceHandler: ResourceHandler<'service', SystemdService, LinuxHost> = {
  target: 'service',
  findSpec: ({ service: planned }, name) =>
    planned?.supervisor === 'systemd' && planned.name === name ? planned : undefined,

  inspect: async ({ name, sha256 }, { host }) =>
    inspectFile(host, unitFile(host, name), { ...access, sha256 }),

  async recordBefore({ name, unit }, context) {
    const { host, head, newUnits } = context
    const record = await recordFileBefore(buildUnitSpec(host, name, unit), context)
    // A service that is missing in the ledger may already run with another unit file. It then gets a pending
    // change, so that it restarts.
    const runs = (newUnits?.get(name) ?? (await host.services.show(name))).pid !== 0
    const isOtherUnit = (await host.files.read(unitFile(host, name)))?.toString('utf8') !== unit
    return (
      record && {
        ...head,
        target: 'service',
        ...toServiceRecord(record),
        started: false,
        pendingChanges: runs && isOtherUnit ? [name] : [],
      }
    )
  },

  async make({ name, unit }, context, previous) {
    const { host, head } = context
    const { changed, record } = await writePlannedFile(
      buildUnitSpec(host, name, unit),
      context,
      previous && { ...previous, ...access, parents: [] },
    )
    // systemd is not reloaded here, because the start that follows reloads it.
    const { started = false, pendingChanges = [] } = previous ?? {}
    return {
      changed,
      resource: { ...head, target: 'service', ...toServiceRecord(record), started, pendingChanges },
    }
  },

  async remove(resource, context) {
    const { name } = resource
    const { host, ledger } = context
    const { enabled } = await host.services.show(name)
    if (enabled) await host.services.disable(name)
    // If the unit file was missing, `disable` has not removed the link in the wants directory.
    await host.files.remove(join(host.layout.units, 'multi-user.target.wants', name))
    const outcome = await removePlannedFile(unitFile(host, name), { ...resource, parents: [] }, context)
    await host.services.reload()
    await host.services.forget(name)
    if (name === policyService) await removePolicyRules(host)
    if (name === proxyService) await removeProxyRules(host, returnsToDocker(ledger) ? [] : proxyRules.chains)
    return outcome
  },
}

/**
 * True if the kube-proxy of RKE1 starts again. With iptables it has the same chains, and it writes them again. Until
 * then the chains of hyperkube serve clients on this host.
 */
function returnsToDocker({ resources }: Ledger): boolean {
  return resources.some(
    (one) =>
      one.target === 'predecessor' &&
      one.kept &&
      one.record.kind === 'docker' &&
      one.record.containers.some(({ container, running }) => container === 'kube-proxy' && running),
  )
}

export function unitFile({ layout }: Pick<LinuxHost, 'layout'>, name: string): string {
  return join(layout.units, name)
}

function buildUnitSpec(host: LinuxHost, name: string, unit: string): PlannedFileSpec {
  return { path: unitFile(host, name), content: Buffer.from(unit), ...access }
}

function toServiceRecord({
  sha256,
  backup,
}: PlannedFileRecord): Pick<ManagedResource<'service'>, 'sha256' | 'backup'> {
  return { sha256, backup }
}
