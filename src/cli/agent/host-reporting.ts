import { createRequestHandlers } from '../../agent/host-resource/handlers/create-request-handlers.ts'
import { createLocalEtcdReader } from '../../agent/host-resource/local-etcd.ts'
import { createEtcdutlVerifier } from '../../agent/host-resource/handlers/verify-snapshot.ts'
import type { RenewNow } from '../../agent/host-resource/handlers/renew-certificates.ts'
import { openLocalSnapshots } from '../../agent/host-resource/local-snapshots.ts'
import type { Healer } from '../../agent/heal/healer.ts'
import { watchPlan } from '../../agent/heal/watch-plan.ts'
import { runHostCommand } from '../../agent/host/command.ts'
import type { Host } from '../../agent/host/host.ts'
import { createCertificateReader } from '../../agent/host-resource/host-certificates.ts'
import { createEtcdReporter } from '../../agent/host-resource/etcd-report.ts'
import type { HostResourceConnectionDeps } from '../../agent/host-resource/host-resource-connection.ts'
import { createHostReporter } from '../../agent/host-resource/host-report.ts'
import { isLockedByOther } from '../../agent/loop/is-locked-by-other.ts'
import type { HostOperations } from '../../agent/server/dispatch.ts'
import type { OperatorLockStore } from '../../agent/operator-lock/operator-lock-store.ts'
import type { Runs } from '../../agent/runs/runs.ts'

export interface HostReportingOptions {
  readonly host: Host
  readonly work: Pick<HostOperations, 'activeRestore'>
  readonly runs: Runs
  readonly claims: Pick<OperatorLockStore, 'held'>
  readonly healer: Pick<Healer, 'health'>
  readonly renew: RenewNow
  readonly version: string
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Builds the deps with which an agent on any OS reports its host to controllers and handles their requests.
 */
export function createHostReportingDeps(options: HostReportingOptions): HostResourceConnectionDeps {
  const { host, runs, claims, healer, version, log, signal } = options
  const plan = watchPlan(host)
  const member = createLocalEtcdReader({ host, plan, signal })
  const snapshots = openLocalSnapshots(host.layout.snapshots)
  return {
    host,
    plan,
    handlers: createRequestHandlers({
      ...options,
      plan,
      member,
      snapshots,
      verify: createEtcdutlVerifier(runHostCommand),
    }),
    readReport: createHostReporter({
      version,
      healer,
      certificates: createCertificateReader(host, plan),
      member: createEtcdReporter({ member, snapshots, clock: host.clock }),
    }),
    generation: () => claims.held?.generation ?? 0,
    isLocked: async () => runs.busy || (await isLockedByOther(options)),
    random: Math.random,
    log,
    signal,
  }
}
