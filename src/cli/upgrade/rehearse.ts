import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import type { UpgradeStep } from '../../actions/plan-upgrade.ts'
import { lockSteps } from '../../actions/upgrade.ts'
import { listDefaultVersions } from '../../catalog/catalog.ts'
import { type Lock, readLock } from '../../catalog/lock.ts'
import { upgradePath } from '../../catalog/version.ts'
import { hasErrors } from '../../contract/finding.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import { rehearseUpgrade, type RehearsalPrograms, type RehearsalReport } from '../../rehearsal/rehearse.ts'
import { addSnapshotExtension, buildSnapshotName } from '../../snapshot/store.ts'
import { extractSnapshot } from '../../snapshot/verify.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { findNetwork } from '../../spec/network.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { createTemporaryDirectory } from '../environment/temporary-directory.ts'
import { openByteProgress } from '../render/byte-progress.ts'
import { type EtcdInvocation, etcdFlags } from '../etcd/action.ts'
import { prepareApiServerProgram, prepareEtcdPrograms } from '../etcd/programs.ts'
import { saveEtcdSnapshot } from '../etcd/save.ts'
import { openSnapshotStores } from '../etcd/stores.ts'
import { loadSnapshotTrust, openSnapshotIdentity } from '../etcd/trust.ts'
import { findSnapshotSource, reportRead } from '../etcd/verify.ts'
import { toSnapshotRow } from '../etcd/list.ts'
import type { UpgradeCommand } from './run-upgrade.ts'

/**
 * Upgrades a copy of the cluster's data on this machine and reports what would break. The cluster itself is
 * not changed; only a snapshot of its data is used.
 */
export async function runRehearsal(
  context: CommandContext,
  options: Invocation['options'],
  { cluster, catalog, to, snapshot: saveFirst }: UpgradeCommand,
): Promise<ExitCode> {
  const { signal, stderr } = context
  const path = upgradePath(cluster.spec.kubernetes, to, listDefaultVersions(catalog))
  if (path.length === 0) {
    stderr.write(`${options.file} already has Kubernetes ${to}; there is nothing to rehearse\n`)
    return exitCodes.ok
  }
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const invocation: EtcdInvocation = {
    // The report about the saved snapshot goes to stderr, because it is not the result of this command.
    context: { ...context, stdout: stderr },
    options: { ...options, output: 'table' },
    flags: etcdFlags.parse({}),
    cluster,
    identity: async () => identity,
    name: buildSnapshotName(cluster.metadata.name, context.now()),
  }
  if (saveFirst) await saveEtcdSnapshot(invocation)
  const source = await findSnapshotSource(
    invocation,
    saveFirst ? addSnapshotExtension(invocation.name ?? '') : await findNewestSnapshot(invocation),
  )
  await using work = await createTemporaryDirectory()
  using progress = openByteProgress(context)
  const extracted = await extractSnapshot(reportRead(source, progress.track(`reading ${source.name}`)), {
    trust: await loadSnapshotTrust(context, options, identity),
    directory: work.path,
    signal,
  })
  const sealed = extracted.small['cluster.identity'].toString('utf8')
  const encryption = secretFiles(await openSnapshotIdentity(context, options, identity, sealed)).get(
    'encryption-configuration',
  )
  if (encryption === undefined) throw new Error('the identity has no encryption configuration')
  const preparePrograms = async (lock: Lock): Promise<RehearsalPrograms> => {
    const [locked, deps] = [
      { files: options, cluster, lock },
      { ...context, progress },
    ]
    return {
      version: lock.kubernetes,
      etcd: await prepareEtcdPrograms(locked, deps),
      apiServer: await prepareApiServerProgram(locked, deps),
    }
  }
  const currentLock = readLock(
    `cluster.lock of ${source.name}`,
    extracted.small['cluster.lock'].toString('utf8'),
  )
  const current = await preparePrograms(currentLock)
  const deps = { context, files: options, report: (line: string) => progress.writeLine(line) }
  const next: RehearsalPrograms[] = []
  for (const { lock } of await lockSteps(deps, path.map(toWholeStep))) next.push(await preparePrograms(lock))
  const directory = join(work.path, 'rehearsal')
  await mkdir(directory, { mode: 0o700 })
  const { services } = cluster.spec.network
  const report = await rehearseUpgrade({
    database: extracted.file,
    directory,
    current,
    path: next,
    encryption,
    // The temporary API server has an IPv4 address, which needs an IPv4 service network.
    serviceRange: findNetwork(services, 4) ?? '',
    args: selectApiArgs(cluster),
    now: context.now,
    report: (line) => progress.writeLine(line),
    signal,
  })
  printReport(context, options, report, { snapshot: source.name, from: currentLock.kubernetes })
  return hasErrors(report.findings) ? exitCodes.failure : exitCodes.ok
}

async function findNewestSnapshot(invocation: EtcdInvocation): Promise<string> {
  const { context, cluster } = invocation
  const stores = (await openSnapshotStores(invocation)).all
  const lists = await Promise.all(
    stores.map(async (store) =>
      (await store.list(context.signal)).map((one) => toSnapshotRow(one, store, cluster.metadata.name)),
    ),
  )
  const newest = lists.flat().toSorted((a, b) => (a.taken < b.taken ? 1 : -1))[0]
  if (newest !== undefined) return newest.name
  throw new HyperkubeError('SNAPSHOT_NOT_FOUND', 'there is no snapshot to rehearse with', {
    hint: 'run the same command without --no-snapshot, which saves a snapshot first',
  })
}

/** Builds a step in which all hosts have the same version, because a rehearsal runs no workers. */
function toWholeStep(version: string): UpgradeStep {
  return { kubernetes: version, workers: version, etcd: '', isCurrent: false, needsSnapshot: false }
}

/** Flags of cluster.yml that decide which APIs are served and how objects are stored. */
const apiFlags = ['feature-gates', 'runtime-config'] as const

function selectApiArgs({ spec }: Cluster): Record<string, string> {
  const { args } = spec.components.apiServer
  return Object.fromEntries(
    apiFlags.flatMap((flag) => (Object.hasOwn(args, flag) ? [[flag, String(args[flag])]] : [])),
  )
}

function printReport(
  { stdout }: CommandContext,
  { output }: Invocation['options'],
  report: RehearsalReport,
  origin: { readonly snapshot: string; readonly from: string },
): void {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'UpgradeRehearsal', ...origin, ...report }
  printResult(stdout, output, document, () => {
    const steps = report.steps.flatMap(({ version, seconds, changes }) => [
      `  Kubernetes ${version}: read in ${seconds.toFixed(1)} s\n`,
      ...changes.map(
        ({ resource, added, changed }) =>
          `    ${resource}: ${added} added, ${changed} changed by Kubernetes\n`,
      ),
    ])
    const problems = report.findings.filter(({ severity }) => severity === 'error').length
    const verdict =
      problems === 0
        ? 'no problem was found\n'
        : `${formatCount(problems, 'problem')} would break the upgrade\n`
    return toPrintable(
      [
        `rehearsed an upgrade from Kubernetes ${origin.from} with ${origin.snapshot}: `,
        `${formatCount(report.objects, 'object')} of ${formatCount(report.resources, 'resource')}\n`,
        ...steps,
        formatFindings(report.findings),
        verdict,
      ].join(''),
    )
  })
}
