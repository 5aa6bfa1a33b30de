import { namePredecessor, type Predecessor, type PredecessorRecord } from '../../contract/predecessor.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { LinuxHost } from '../host/host.ts'
import {
  inspectReplacedContainer,
  recordContainer,
  replaceContainer,
  restoreContainer,
} from './predecessor-container.ts'
import { inspectReplacedDocker, recordDocker, replaceDocker, restoreDocker } from './predecessor-docker.ts'
import {
  inspectReplacedUnit,
  recordUnit,
  replaceUnit,
  restoreUnit,
  revealPackageDropIns,
} from './predecessor-unit.ts'
import {
  inspectReplacedStaticPod,
  recordStaticPod,
  replaceStaticPod,
  restoreStaticPod,
} from './predecessor-static-pod.ts'
import {
  type MakeContext,
  type RemoveResult,
  type ResourceHandler,
  type ResourceObservation,
  wasAbsent,
} from './resource-handler.ts'

/**
 * Handler for what another tool ran before a component. Making the resource ends the predecessor and keeps
 * everything that it needs. Removing the resource restores the predecessor and starts it.
 */
export const predecessorHandler: ResourceHandler<'predecessor', Predecessor, LinuxHost> = {
  target: 'predecessor',
  findSpec: ({ replaces }, name) =>
    replaces !== undefined && namePredecessor(replaces) === name ? replaces : undefined,

  inspect: async ({ record }, { host }) => inspectReplaced(host, record),

  recordBefore: async (spec, context) => ({
    ...context.head,
    target: 'predecessor',
    record: await readRecord(spec, context),
    kept: spec.kept,
  }),

  async make(spec, context, previous) {
    // The commit has deleted what a rollback needs, so a rollback must not look possible again.
    if (previous !== undefined && !previous.kept && spec.kept) throw rollbackImpossible()
    const record = previous?.record ?? (await readRecord(spec, context))
    const changed = await replace(context, record, spec.kept)
    return { changed, resource: { ...context.head, target: 'predecessor', record, kept: spec.kept } }
  },

  async remove({ record, kept }, { host }) {
    if (kept) return restore(host, record)
    if (record.kind === 'unit') return revealPackageDropIns(host, record)
    return record.kind === 'docker' ? revealPackageDropIns(host, record.runtime) : wasAbsent
  },
}

/** Builds the error for a host that cannot return, although an older identity file says that it can. */
export function rollbackImpossible(): HyperkubeError {
  return new HyperkubeError(
    'ADOPT_COMMITTED',
    'the host cannot return any more, because hyperkube adopt commit has changed it',
    { hint: 'use the cluster.identity that adopt commit has written: another operator may have it' },
  )
}

async function readRecord(spec: Predecessor, context: MakeContext<LinuxHost>): Promise<PredecessorRecord> {
  if (spec.kind === 'static-pod') return recordStaticPod(spec, context)
  if (spec.kind === 'unit') return recordUnit(spec.unit, context)
  return spec.kind === 'container' ? recordContainer(spec, context) : recordDocker(spec, context)
}

async function inspectReplaced(host: LinuxHost, record: PredecessorRecord): Promise<ResourceObservation> {
  if (record.kind === 'static-pod') return inspectReplacedStaticPod(host, record)
  if (record.kind === 'unit') return inspectReplacedUnit(host, record)
  return record.kind === 'container'
    ? inspectReplacedContainer(host, record)
    : inspectReplacedDocker(host, record)
}

async function replace(
  context: MakeContext<LinuxHost>,
  record: PredecessorRecord,
  isKept: boolean,
): Promise<boolean> {
  if (record.kind === 'static-pod') return replaceStaticPod(context, record, isKept)
  if (record.kind === 'unit') return replaceUnit(context.host, record, isKept)
  return record.kind === 'container'
    ? replaceContainer(context, record, isKept)
    : replaceDocker(context, record, isKept)
}

async function restore(host: LinuxHost, record: PredecessorRecord): Promise<RemoveResult> {
  if (record.kind === 'static-pod') return restoreStaticPod(host, record)
  if (record.kind === 'unit') return restoreUnit(host, record)
  return record.kind === 'container' ? restoreContainer(host, record) : restoreDocker(host, record)
}
