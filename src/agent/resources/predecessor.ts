import { namePredecessor, type Predecessor } from '../../contract/predecessor.ts'
import type { LinuxHost } from '../host/host.ts'
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
  type ManagedResource,
  type ResourceHandler,
  wasAbsent,
} from './resource-handler.ts'

type PredecessorRecord = ManagedResource<'predecessor'>['record']

/**
 * Handler for what another tool ran before a component. Making the resource ends the predecessor and keeps
 * everything that it needs. Removing the resource restores the predecessor and starts it.
 */
export const predecessorHandler: ResourceHandler<'predecessor', Predecessor, LinuxHost> = {
  target: 'predecessor',
  findSpec: ({ replaces }, name) =>
    replaces !== undefined && namePredecessor(replaces) === name ? replaces : undefined,

  inspect: async ({ record }, { host }) =>
    record.kind === 'unit' ? inspectReplacedUnit(host, record) : inspectReplacedStaticPod(host, record),

  recordBefore: async (spec, context) => ({
    ...context.head,
    target: 'predecessor',
    record: await readRecord(spec, context),
    kept: spec.kept,
  }),

  async make(spec, context, previous) {
    const record = previous?.record ?? (await readRecord(spec, context))
    const changed =
      record.kind === 'unit'
        ? await replaceUnit(context.host, record, spec.kept)
        : await replaceStaticPod(context, record, spec.kept)
    return { changed, resource: { ...context.head, target: 'predecessor', record, kept: spec.kept } }
  },

  async remove({ record, kept }, { host }) {
    if (record.kind === 'unit') return kept ? restoreUnit(host, record) : revealPackageDropIns(host, record)
    return kept ? restoreStaticPod(host, record) : wasAbsent
  },
}

async function readRecord(spec: Predecessor, context: MakeContext<LinuxHost>): Promise<PredecessorRecord> {
  return spec.kind === 'unit' ? recordUnit(spec.unit, context) : recordStaticPod(spec, context)
}
