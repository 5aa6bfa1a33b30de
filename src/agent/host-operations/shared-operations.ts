import { createMutex } from '../../kit/mutex.ts'
import { Secret } from '../../pki/secret.ts'
import { applyPlan } from '../apply/apply.ts'
import { createCertificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { listInstalledCertificates } from '../apply/installed-certificates.ts'
import { readPreviousPlan } from '../apply/applied-plan.ts'
import { readCurrentContents } from '../apply/current-contents.ts'
import type { Host } from '../host/host.ts'
import { createProvisionalChanges } from '../auto-rollback/provisional-changes.ts'
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

export function createSharedOperations(host: Host): Pick<HostOperations, SharedOperation> {
  // A client may repeat a request over a new connection. Without the mutex both requests would create keys at
  // the same time and overwrite each other's.
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
  }
}
